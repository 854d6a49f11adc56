//! Embeds a batch of texts. A text that the model rejects does not block the others.

use std::sync::Arc;

use lyceum_models::embedder::{EmbedError, Embedder, Purpose, checked};

use super::PendingText;
use crate::vectors::encode;

/// A text that any working model accepts.
const PROBE_TEXT: &str = "lyceum";

/// A text's hash and its encoded vector; empty if the model rejected the text.
type EmbeddedVector = (Vec<u8>, Vec<u8>);

/// Embeds texts in order and stops early if the model fails.
///
/// If the batch fails but the model accepts a probe text, each text is tried alone; one that then fails counts as
/// rejected. Returns an error only if not even the first text could be processed.
pub(super) async fn embed_batch(
    embedder: &Arc<dyn Embedder>,
    batch: &[PendingText],
) -> Result<Vec<EmbeddedVector>, EmbedError> {
    let texts: Vec<String> = batch.iter().map(|pending| pending.text.clone()).collect();
    let error = match embed(embedder, &texts).await {
        Ok(vectors) => return Ok(batch.iter().map(|pending| pending.hash.clone()).zip(vectors).collect()),
        Err(error) => error,
    };
    if is_model_failure(embedder, &error).await {
        return Err(error);
    }
    let (mut stored, mut rejected) = (Vec::with_capacity(batch.len()), None);
    for (pending, text) in batch.iter().zip(&texts) {
        match embed(embedder, std::slice::from_ref(text)).await {
            Ok(vectors) => stored.extend(vectors.into_iter().map(|vector| (pending.hash.clone(), vector))),
            Err(error) if is_model_failure(embedder, &error).await => {
                if stored.is_empty() {
                    return Err(error);
                }
                break;
            }
            Err(error) => {
                stored.push((pending.hash.clone(), Vec::new()));
                rejected = Some(error);
            }
        }
    }
    if let Some(error) = rejected {
        let count = stored.iter().filter(|(_, vector)| vector.is_empty()).count();
        tracing::warn!(
            passages = count,
            error.cause = %error,
            "the model rejected some chunks; they are found by lexical search only, and retried at the next start"
        );
    }
    Ok(stored)
}

/// Whether the model itself fails, whatever the text.
async fn is_model_failure(embedder: &Arc<dyn Embedder>, error: &EmbedError) -> bool {
    matches!(error, EmbedError::Busy { .. }) || embed(embedder, &[PROBE_TEXT.to_owned()]).await.is_err()
}

async fn embed(embedder: &Arc<dyn Embedder>, texts: &[String]) -> Result<Vec<Vec<u8>>, EmbedError> {
    let vectors = embedder.embed(Purpose::Passage, texts).await?;
    let vectors = checked(embedder.identity(), texts.len(), vectors)?;
    Ok(vectors.iter().map(|vector| encode(vector)).collect())
}
