//! A fake model: embeds the words of a text by feature hashing, with scripted failures.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use lyceum_models::embedder::{EmbedError, Embedder, Identity, Pooling, Purpose};
use sha2::{Digest, Sha256};

use crate::Connect;

/// Behaviour of the fake model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    Normal,
    Fails,
    TooFew,
    WrongLength,
    NotANumber,
    NoDirection,
    Slow(Duration),
    /// Fails on texts that contain this word.
    FailsOn(&'static str, Fault),
}

/// How the model fails on a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// An HTTP error status.
    Status(u16),
    /// Inference fails.
    Run,
    /// The vector is zero.
    NoDirection,
}

impl Fault {
    fn error(self) -> Option<EmbedError> {
        match self {
            Self::Status(status) => Some(EmbedError::Refused { status, message: SECRET.to_owned() }),
            Self::Run => Some(EmbedError::Model(SECRET.to_owned())),
            Self::NoDirection => None,
        }
    }
}

/// Part of an endpoint's error message, which only operators may see.
pub(super) const SECRET: &str = "10.0.0.7 is full";

/// State shared by all models of a test.
#[derive(Debug)]
pub(super) struct Control {
    behaviour: Mutex<Behaviour>,
    /// Models that can't be loaded.
    unavailable: Mutex<HashSet<String>>,
    /// Number of embedded passages.
    pub(super) passages: AtomicUsize,
    pub(super) connected: AtomicUsize,
}

impl Control {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            behaviour: Mutex::new(Behaviour::Normal),
            unavailable: Mutex::default(),
            passages: AtomicUsize::default(),
            connected: AtomicUsize::default(),
        })
    }

    pub(super) fn set_behaviour(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub(super) fn make_unavailable(&self, model: &str) {
        self.unavailable.lock().unwrap().insert(model.to_owned());
    }

    /// Number of passages embedded since the last call.
    pub(super) fn embedded(&self) -> usize {
        self.passages.swap(0, Ordering::SeqCst)
    }

    pub(super) fn connect(self: &Arc<Self>) -> Connect {
        let control = self.clone();
        Arc::new(move |settings: String| {
            control.connected.fetch_add(1, Ordering::SeqCst);
            let created = Fake::new(&settings, control.clone());
            Box::pin(async move { created.map(|fake| Arc::new(fake) as Arc<dyn Embedder>) })
        })
    }
}

#[derive(Debug)]
struct Fake {
    identity: Identity,
    control: Arc<Control>,
}

impl Fake {
    /// Parses settings such as `name:64`; `name:64:url` is the same model at another endpoint.
    fn new(settings: &str, control: Arc<Control>) -> Result<Self, EmbedError> {
        let mut parts = settings.split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        if control.unavailable.lock().unwrap().contains(&name) {
            return Err(EmbedError::Model(format!("there is no {name}")));
        }
        let identity = Identity {
            kind: "local".to_owned(),
            name,
            sha256: None,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            dimensions: parts.next().unwrap().parse().unwrap(),
            max_tokens: 256,
        };
        Ok(Self { identity, control })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.identity.dimensions];
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words.map(str::to_lowercase) {
            let word = match word.as_str() {
                "automobile" => "car",
                "loaf" => "bread",
                other => other,
            };
            let hash = Sha256::digest(format!("{} {word}", self.identity.name));
            for pair in hash.chunks(4) {
                let place = usize::from(pair[0]) * 256 + usize::from(pair[1]);
                vector[place % self.identity.dimensions] += if pair[2] % 2 == 0 { 1.0 } else { -1.0 };
            }
        }
        // Avoids a zero vector for a text without words.
        vector[0] += 0.01;
        vector
    }
}

#[async_trait]
impl Embedder for Fake {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn embed(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let behaviour = *self.control.behaviour.lock().unwrap();
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| self.vector(text)).collect();
        match behaviour {
            Behaviour::Normal => {}
            Behaviour::Fails => return Err(EmbedError::Busy { status: 429, retry_after: None }),
            Behaviour::TooFew => drop(vectors.pop()),
            Behaviour::WrongLength => vectors.iter_mut().for_each(|vector| vector.push(1.0)),
            Behaviour::NotANumber => vectors.iter_mut().for_each(|vector| vector[1] = f32::NAN),
            Behaviour::NoDirection => vectors.iter_mut().for_each(|vector| vector.fill(0.0)),
            Behaviour::Slow(time) => tokio::time::sleep(time).await,
            Behaviour::FailsOn(word, fault) => {
                let matching = texts.iter().zip(&mut vectors).filter(|(text, _)| text.contains(word));
                for (_, vector) in matching {
                    if let Some(error) = fault.error() {
                        return Err(error);
                    }
                    vector.fill(0.0);
                }
            }
        }
        if purpose == Purpose::Passage {
            self.control.passages.fetch_add(texts.len(), Ordering::SeqCst);
        }
        Ok(vectors)
    }
}
