//! A model that is none: the words of a text, thrown into a vector by their hashes. It does as it is told.

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

/// How a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Well,
    Fails,
    TooFew,
    WrongLength,
    NotANumber,
    NoDirection,
    Slow(Duration),
    /// Fails wherever a text has this word in it.
    FailsOn(&'static str, Fault),
}

/// How a model fails over a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Refuses it with this status.
    Status(u16),
    /// Its run breaks off.
    Run,
    /// Its vector has no direction.
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

/// What an endpoint says, which is nobody's business but the operator's.
pub(super) const SECRET: &str = "10.0.0.7 is full";

/// What all models of a test have in common.
#[derive(Debug)]
pub(super) struct Control {
    manner: Mutex<Manner>,
    /// Models that can't be set up.
    absent: Mutex<HashSet<String>>,
    /// Passages that were turned into vectors.
    pub(super) passages: AtomicUsize,
    pub(super) connected: AtomicUsize,
}

impl Control {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            manner: Mutex::new(Manner::Well),
            absent: Mutex::default(),
            passages: AtomicUsize::default(),
            connected: AtomicUsize::default(),
        })
    }

    pub(super) fn manner(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(super) fn is_absent(&self, model: &str) {
        self.absent.lock().unwrap().insert(model.to_owned());
    }

    /// How many passages were turned into vectors since this was asked last.
    pub(super) fn embedded(&self) -> usize {
        self.passages.swap(0, Ordering::SeqCst)
    }

    pub(super) fn connect(self: &Arc<Self>) -> Connect {
        let control = self.clone();
        Arc::new(move |settings: String| {
            control.connected.fetch_add(1, Ordering::SeqCst);
            let made = Fake::new(&settings, control.clone());
            Box::pin(async move { made.map(|fake| Arc::new(fake) as Arc<dyn Embedder>) })
        })
    }
}

#[derive(Debug)]
struct Fake {
    identity: Identity,
    control: Arc<Control>,
}

impl Fake {
    /// By settings such as `name:64`; `name:64:url` is the same model elsewhere.
    fn new(settings: &str, control: Arc<Control>) -> Result<Self, EmbedError> {
        let mut parts = settings.split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        if control.absent.lock().unwrap().contains(&name) {
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
        // A text without words has some direction, too.
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
        let manner = *self.control.manner.lock().unwrap();
        let mut vectors: Vec<Vec<f32>> = texts.iter().map(|text| self.vector(text)).collect();
        match manner {
            Manner::Well => {}
            Manner::Fails => return Err(EmbedError::Busy { status: 429, retry_after: None }),
            Manner::TooFew => drop(vectors.pop()),
            Manner::WrongLength => vectors.iter_mut().for_each(|vector| vector.push(1.0)),
            Manner::NotANumber => vectors.iter_mut().for_each(|vector| vector[1] = f32::NAN),
            Manner::NoDirection => vectors.iter_mut().for_each(|vector| vector.fill(0.0)),
            Manner::Slow(time) => tokio::time::sleep(time).await,
            Manner::FailsOn(word, fault) => {
                let met = texts.iter().zip(&mut vectors).filter(|(text, _)| text.contains(word));
                for (_, vector) in met {
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
