//! A loaded model and its tokenizer: text in, numbers out. Works for any BERT or XLM-R family graph.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use tokenizers::{EncodeInput, Encoding, Tokenizer, TruncationParams, TruncationStrategy};

use super::{Folder, ModelError};

/// A model that is ready to run. Any number of threads may, at once.
pub(crate) struct Runtime {
    model: Model,
    tokenizer: Tokenizer,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    /// The file's name, for errors.
    file: String,
}

/// What a run gave: numbers and the shape they have.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f32>,
}

/// The inputs that graphs of these families have.
#[derive(Debug, Clone, Copy)]
enum Input {
    Ids,
    Mask,
    Types,
    Positions,
}

impl Runtime {
    /// Loads the files of a folder. `outputs` are the names that its answer may have, the best first.
    pub(crate) fn load(folder: &Folder, max_tokens: usize, outputs: &[&str]) -> Result<Self, ModelError> {
        let file = ModelError::name_of(folder.model());
        let model = load(folder, &file)?;
        let inputs = inputs(&model, &file)?;
        let output = outputs
            .iter()
            .find_map(|name| model.find_node(name).filter(|id| model.output_ids().contains(id)))
            .ok_or_else(|| {
                ModelError::malformed(&file, format!("it gives none of {}", outputs.join(", ")))
            })?;
        let tokenizer = tokenizer(folder, max_tokens)?;
        Ok(Self { model, tokenizer, inputs, output, file })
    }

    /// Runs the model over one text, or over a pair of them, on this lane.
    pub(crate) fn run<'text>(
        &self,
        lane: &Arc<ThreadPool>,
        text: impl Into<EncodeInput<'text>> + Send,
    ) -> Result<Output, ModelError> {
        // Code of others that computes with what anybody may write: a panic is their fault, and must stay one text's.
        catch_unwind(AssertUnwindSafe(|| {
            let encoding = self
                .tokenizer
                .encode(text, true)
                .map_err(|fault| ModelError::malformed("tokenizer.json", fault.to_string()))?;
            self.run_tokens(lane, &encoding)
        }))
        .unwrap_or_else(|_| Err(ModelError::malformed(&self.file, "it can't be run over this text")))
    }

    fn run_tokens(&self, lane: &Arc<ThreadPool>, encoding: &Encoding) -> Result<Output, ModelError> {
        let count = encoding.get_ids().len();
        if count == 0 {
            return Err(ModelError::malformed("tokenizer.json", "it gives no token for a text"));
        }
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        for (id, input) in &self.inputs {
            let numbers: Vec<i32> = match input {
                Input::Ids => encoding.get_ids().iter().map(|id| id.cast_signed()).collect(),
                Input::Mask => vec![1; count],
                Input::Types => encoding.get_type_ids().iter().map(|id| id.cast_signed()).collect(),
                Input::Positions => (0..).take(count).collect(),
            };
            let value = Value::from_shape([1, count], numbers)
                .map_err(|fault| ModelError::malformed(&self.file, fault.to_string()))?;
            inputs.push((*id, value.into()));
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(lane)));
        let values = self
            .model
            .run(inputs, &[self.output], Some(options))
            .map_err(|fault| ModelError::malformed(&self.file, fault.to_string()))?;
        let Some(Value::FloatTensor(tensor)) = values.into_iter().next() else {
            return Err(ModelError::malformed(&self.file, "it gives something else than floats"));
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
        .map_err(|fault| ModelError::malformed(file, fault.to_string()))
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
            other => return Err(ModelError::malformed(file, format!("it wants an input `{other}`"))),
        };
        inputs.push((*id, input));
    }
    if inputs.iter().any(|(_, input)| matches!(input, Input::Ids)) {
        Ok(inputs)
    } else {
        Err(ModelError::malformed(file, "it takes no `input_ids`"))
    }
}

fn tokenizer(folder: &Folder, max_tokens: usize) -> Result<Tokenizer, ModelError> {
    let malformed = |fault: tokenizers::Error| ModelError::malformed("tokenizer.json", fault.to_string());
    let path = folder.tokenizer();
    let mut tokenizer = catch_unwind(|| Tokenizer::from_file(path))
        .map_err(|_| ModelError::malformed("tokenizer.json", "it is not a tokenizer"))?
        .map_err(malformed)?;
    // What the file says of padding and cutting is for somebody else's batches.
    tokenizer.with_padding(None);
    let truncation = TruncationParams {
        max_length: max_tokens,
        strategy: TruncationStrategy::LongestFirst,
        ..TruncationParams::default()
    };
    tokenizer.with_truncation(Some(truncation)).map_err(malformed)?;
    Ok(tokenizer)
}
