//! Inference: a loaded ONNX model and its tokenizer, for any BERT or XLM-R family graph.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use tokenizers::{EncodeInput, Encoding, Tokenizer, TruncationParams, TruncationStrategy};

use super::{Folder, ModelError};

/// A loaded model. Safe to run from several threads at once.
pub(crate) struct Runtime {
    model: Model,
    tokenizer: Tokenizer,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    /// File name, for errors.
    file: String,
}

/// An output tensor.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f32>,
}

/// Inputs of a graph.
#[derive(Debug, Clone, Copy)]
enum Input {
    Ids,
    Mask,
    Types,
    Positions,
}

impl Runtime {
    /// Loads a model. `outputs` are the accepted output names, in order of preference.
    pub(crate) fn load(folder: &Folder, max_tokens: usize, outputs: &[&str]) -> Result<Self, ModelError> {
        let file = ModelError::name_of(folder.model());
        let model = load(folder, &file)?;
        let inputs = inputs(&model, &file)?;
        let output = outputs
            .iter()
            .find_map(|name| model.find_node(name).filter(|id| model.output_ids().contains(id)))
            .ok_or_else(|| {
                ModelError::malformed(&file, format!("it has none of the outputs {}", outputs.join(", ")))
            })?;
        let tokenizer = tokenizer(folder, max_tokens)?;
        Ok(Self { model, tokenizer, inputs, output, file })
    }

    /// Runs the model on one text or on a pair of texts, in this thread pool.
    pub(crate) fn run<'text>(
        &self,
        pool: &Arc<ThreadPool>,
        text: impl Into<EncodeInput<'text>> + Send,
    ) -> Result<Output, ModelError> {
        // Third-party code on untrusted input: a panic must only fail this text.
        catch_unwind(AssertUnwindSafe(|| {
            let encoding = self
                .tokenizer
                .encode(text, true)
                .map_err(|error| ModelError::malformed("tokenizer.json", error.to_string()))?;
            self.run_tokens(pool, &encoding)
        }))
        .unwrap_or_else(|_| Err(ModelError::malformed(&self.file, "inference panicked on this text")))
    }

    fn run_tokens(&self, pool: &Arc<ThreadPool>, encoding: &Encoding) -> Result<Output, ModelError> {
        let count = encoding.get_ids().len();
        if count == 0 {
            return Err(ModelError::malformed("tokenizer.json", "it returns no tokens"));
        }
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        for (id, input) in &self.inputs {
            let values: Vec<i32> = match input {
                Input::Ids => encoding.get_ids().iter().map(|id| id.cast_signed()).collect(),
                Input::Mask => vec![1; count],
                Input::Types => encoding.get_type_ids().iter().map(|id| id.cast_signed()).collect(),
                Input::Positions => (0..).take(count).collect(),
            };
            let value = Value::from_shape([1, count], values)
                .map_err(|error| ModelError::malformed(&self.file, error.to_string()))?;
            inputs.push((*id, value.into()));
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let outputs = self
            .model
            .run(inputs, &[self.output], Some(options))
            .map_err(|error| ModelError::malformed(&self.file, error.to_string()))?;
        let Some(Value::FloatTensor(tensor)) = outputs.into_iter().next() else {
            return Err(ModelError::malformed(&self.file, "its output is not a float tensor"));
        };
        use rten_tensor::{AsView, Layout};
        Ok(Output { shape: tensor.shape().to_vec(), data: tensor.to_vec() })
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Runtime").field("file", &self.file).finish_non_exhaustive()
    }
}

fn load(folder: &Folder, file: &str) -> Result<Model, ModelError> {
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    let path = folder.model();
    catch_unwind(AssertUnwindSafe(|| options.load_file(path)))
        .map_err(|_| ModelError::malformed(file, "it is not an ONNX model"))?
        .map_err(|error| ModelError::malformed(file, error.to_string()))
}

fn inputs(model: &Model, file: &str) -> Result<Vec<(NodeId, Input)>, ModelError> {
    let mut inputs = Vec::new();
    for id in model.input_ids() {
        let name = model.node_info(*id).and_then(|node| node.name().map(str::to_owned)).unwrap_or_default();
        let input = match name.as_str() {
            "input_ids" => Input::Ids,
            "attention_mask" => Input::Mask,
            "token_type_ids" => Input::Types,
            "position_ids" => Input::Positions,
            other => return Err(ModelError::malformed(file, format!("it has an unknown input `{other}`"))),
        };
        inputs.push((*id, input));
    }
    if inputs.iter().any(|(_, input)| matches!(input, Input::Ids)) {
        Ok(inputs)
    } else {
        Err(ModelError::malformed(file, "it has no input `input_ids`"))
    }
}

fn tokenizer(folder: &Folder, max_tokens: usize) -> Result<Tokenizer, ModelError> {
    let malformed = |error: tokenizers::Error| ModelError::malformed("tokenizer.json", error.to_string());
    let path = folder.tokenizer();
    let mut tokenizer = catch_unwind(|| Tokenizer::from_file(path))
        .map_err(|_| ModelError::malformed("tokenizer.json", "it is not a tokenizer"))?
        .map_err(malformed)?;
    // Override the file's padding and truncation, which are meant for batches.
    tokenizer.with_padding(None);
    let truncation = TruncationParams {
        max_length: max_tokens,
        strategy: TruncationStrategy::LongestFirst,
        ..TruncationParams::default()
    };
    tokenizer.with_truncation(Some(truncation)).map_err(malformed)?;
    Ok(tokenizer)
}
