//! Holds runs against each other that must not differ in a bit.

use crate::common::bits;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

/// The first answer to each question, and how it came about.
pub struct SameBits<K>(HashMap<K, (Vec<u64>, String)>);

impl<K> Default for SameBits<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq + Debug> SameBits<K> {
    /// Panics where the answer to a question differs from the one before.
    pub fn check(&mut self, question: K, values: &[f64], what: &str) {
        let found = bits(values);
        let (first, before) = self.0.entry(question).or_insert_with(|| (found.clone(), what.to_owned()));
        let differ = first.iter().zip(&found).filter(|(a, b)| a != b).count();
        assert!(differ == 0, "{differ} of {} values have other bits:\n  {before}\n  {what}", found.len());
    }
}
