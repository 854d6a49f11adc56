//! Stand-in until merged.
use crate::reranker::Reranker;
use lyceum_store::Db;
use std::{sync::Arc, time::Duration};
pub struct Rerank;
pub struct Candidate {
    pub id: i64,
    pub version: String,
    pub text: String,
}
pub enum Reranked {
    Scored(Vec<f32>),
    Unavailable(String),
}
impl Rerank {
    pub fn new(_r: Arc<dyn Reranker>, _db: Db, _b: Duration) -> Self {
        Self
    }
    pub async fn order(&self, _q: &str, _c: &[Candidate]) -> Reranked {
        Reranked::Unavailable(String::new())
    }
}
