//! Compares runs whose results must be equal bit for bit.

use crate::common::bits;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

/// The first values for each key, and the description of their run.
pub struct SameBits<K>(HashMap<K, (Vec<u64>, String)>);

impl<K> Default for SameBits<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq + Debug> SameBits<K> {
    /// Panics if the values for a key differ from the first ones.
    pub fn check(&mut self, question: K, values: &[f64], what: &str) {
        let found = bits(values);
        let (first, before) = self.0.entry(question).or_insert_with(|| (found.clone(), what.to_owned()));
        let differ = first.iter().zip(&found).filter(|(a, b)| a != b).count();
        assert!(differ == 0, "{differ} of {} values have other bits:\n  {before}\n  {what}", found.len());
    }
}
