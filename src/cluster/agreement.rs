//! What ranks must have in common before a run: program, store, algorithm and options, as named fields.

use super::Cluster;
use crate::error::{Error, Result};

/// Names and values that must be the same on every rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement(Vec<(String, String)>);

impl Agreement {
    /// Of these names and values.
    pub fn of(fields: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(fields.into_iter().collect())
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// Compares the fields of all ranks.
    ///
    /// # Errors
    /// [`Error::Ranks`] on every rank, with the fields that differ from those of rank 0, and the first rank for each of
    /// which they do; [`Error::Rank`] if another rank has failed.
    pub fn check(&self, cluster: &Cluster) -> Result<()> {
        let text = serde_json::to_vec(&self.0).expect("strings are JSON");
        let all = cluster.gather_bytes(&text)?;
        let read = |bytes: &Vec<u8>| serde_json::from_slice::<Vec<(String, String)>>(bytes).unwrap_or_default();
        let all: Vec<Vec<(String, String)>> = all.iter().map(read).collect();
        let differences = differences(&all);
        if differences.is_empty() { Ok(()) } else { Err(Error::Ranks(differences.join("; "))) }
    }
}

/// For each field that differs, its value on rank 0 and on the first rank that has another.
fn differences(all: &[Vec<(String, String)>]) -> Vec<String> {
    let value = |rank: usize, name: &str| {
        let found = all[rank].iter().find(|(of, _)| of == name);
        found.map_or("absent", |(_, value)| value.as_str())
    };
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in all.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let difference = |name: &&str| {
        let other = (1..all.len()).find(|&rank| value(rank, name) != value(0, name))?;
        Some(format!("{name}: {} on rank 0, {} on rank {other}", value(0, name), value(other, name)))
    };
    names.iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::super::memory::clusters;
    use super::*;

    fn check(of_rank: impl Fn(usize) -> Agreement + Sync) -> Vec<Result<()>> {
        std::thread::scope(|scope| {
            let of_rank = &of_rank;
            let thread =
                |cluster: std::sync::Arc<Cluster>| scope.spawn(move || of_rank(cluster.rank()).check(&cluster));
            let threads: Vec<_> = clusters(3).into_iter().map(thread).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn what_differs_is_named_on_every_rank() {
        let same = Agreement::default().with("program", "1.0");
        assert!(check(|_| same.clone().with("store", 7)).iter().all(Result::is_ok));
        let found = check(|rank| {
            let of = same.clone().with("store", if rank == 2 { "aa" } else { "bb" });
            if rank == 1 { of.with("seed", 3) } else { of }
        });
        for error in found {
            let text = error.unwrap_err().to_string();
            let expected = "the ranks do not run the same: store: bb on rank 0, aa on rank 2; \
                seed: absent on rank 0, 3 on rank 1";
            assert_eq!(text, expected);
        }
    }
}
