//! Some texts, made into vectors: one that the model does not take keeps no other from being found.

use std::sync::Arc;

use lyceum_models::embedder::{EmbedError, Embedder, Purpose, checked};

use super::PendingText;
use crate::vectors::encode;

/// What every model takes that takes anything.
const PROBE_TEXT: &str = "lyceum";

/// A hash, and the vector as it is kept: without numbers where the model does not take the text.
type EmbeddedVector = (Vec<u8>, Vec<u8>);

/// The vectors of the first of these texts, in order: of all of them unless the model stopped working.
///
/// Where all of them together fail and the model takes another text, each is tried alone, and what fails then is the fault
/// of the text. It is an error only where not even the first could be dealt with.
pub(super) async fn embedded(
    embedder: &Arc<dyn Embedder>,
    batch: &[PendingText],
) -> Result<Vec<EmbeddedVector>, EmbedError> {
    let texts: Vec<String> = batch.iter().map(|waiting| waiting.text.clone()).collect();
    let fault = match embed(embedder, &texts).await {
        Ok(made) => return Ok(batch.iter().map(|waiting| waiting.hash.clone()).zip(made).collect()),
        Err(fault) => fault,
    };
    if is_its_own(embedder, &fault).await {
        return Err(fault);
    }
    let (mut stored, mut refused) = (Vec::with_capacity(batch.len()), None);
    for (waiting, text) in batch.iter().zip(&texts) {
        match embed(embedder, std::slice::from_ref(text)).await {
            Ok(made) => stored.extend(made.into_iter().map(|vector| (waiting.hash.clone(), vector))),
            Err(fault) if is_its_own(embedder, &fault).await => {
                if stored.is_empty() {
                    return Err(fault);
                }
                break;
            }
            Err(fault) => {
                stored.push((waiting.hash.clone(), Vec::new()));
                refused = Some(fault);
            }
        }
    }
    if let Some(fault) = refused {
        let count = stored.iter().filter(|(_, vector)| vector.is_empty()).count();
        tracing::warn!(
            passages = count,
            error.cause = %fault,
            "the model rejected some chunks; they are found by lexical search only, and retried at the next start"
        );
    }
    Ok(stored)
}

/// Whether a model failed whatever it was given.
async fn is_its_own(embedder: &Arc<dyn Embedder>, fault: &EmbedError) -> bool {
    matches!(fault, EmbedError::Busy { .. }) || embed(embedder, &[PROBE_TEXT.to_owned()]).await.is_err()
}

async fn embed(embedder: &Arc<dyn Embedder>, texts: &[String]) -> Result<Vec<Vec<u8>>, EmbedError> {
    let made = embedder.embed(Purpose::Passage, texts).await?;
    let made = checked(embedder.identity(), texts.len(), made)?;
    Ok(made.iter().map(|vector| encode(vector)).collect())
}
