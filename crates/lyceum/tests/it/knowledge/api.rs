//! The knowledge base over REST.

mod base;
mod cors;
mod health;
mod kept;
mod leaks;
mod llms;
mod markdown;
mod odd_requests;
mod openapi;
mod operator;
mod rest;
