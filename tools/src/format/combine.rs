//! Merges edges with the same ends: the sum, smallest, largest or first of their weights.
//!
//! ```text
//!  sorted by source, dest, weight ─▶ runs of the same ends ─▶ one record each ─▶ in memory in place, or a run on disk
//! ```
//!
//! Sums of floats are in double precision, in ascending order, so they are the same in whatever order the input has its
//! edges. For the first edge of the input, the records of the sort have its place in the input above the weight.

use super::ingest::Ingested;
use super::naming::Naming;
use super::options::Repeated;
use super::repeated::without_order;
use super::state::Formatter;
use crate::sorting::record::{Record, Wide, sortable, unsortable};
use crate::sorting::runs::{DiskRuns, append, block_records};
use crate::sorting::sorter::Collected;
use topostream_formats::{Error, Result, WeightType};

/// Records that are combined at a time on their way to disk.
const COMBINED_RECORDS: usize = 1 << 14;

/// The edges with the same ends so far.
#[derive(Clone, Copy)]
struct Group {
    source: u32,
    dest: u32,
    count: u64,
    /// The sortable bits of the weight, unless it is a sum of several.
    weight: u64,
    /// The sum of weights that are integers, and the sum of other weights.
    whole: u128,
    real: f64,
}

/// A sum that the type of the weights does not hold.
struct TooLarge {
    source: u32,
    dest: u32,
    sum: String,
}

/// Combines records that come in order.
struct Folding {
    repeated: Repeated,
    weights: WeightType,
    group: Option<Group>,
    combined: u64,
}

impl Folding {
    /// Takes the next record. Returns the group before it, if it begins another one.
    fn push<K: Record, R: Record>(&mut self, record: K) -> std::result::Result<Option<R>, TooLarge> {
        let (source, dest, weight) = record.parts();
        match &mut self.group {
            Some(group) if (group.source, group.dest) == (source, dest) => {
                group.count += 1;
                self.combined += 1;
                match self.repeated {
                    Repeated::Sum => group.add(weight, self.weights),
                    // Ascending ones: the last is the largest, and the first one the smallest, or the first.
                    Repeated::Max => group.weight = weight,
                    Repeated::Min | Repeated::First => {}
                }
                Ok(None)
            }
            _ => {
                let mut group = Group { source, dest, count: 1, weight, whole: 0, real: 0.0 };
                if self.repeated == Repeated::Sum {
                    group.add(weight, self.weights);
                }
                self.group.replace(group).map(|group| self.record(&group)).transpose()
            }
        }
    }

    /// Returns the last group.
    fn end<R: Record>(&mut self) -> std::result::Result<Option<R>, TooLarge> {
        self.group.take().map(|group| self.record(&group)).transpose()
    }

    fn record<R: Record>(&self, group: &Group) -> std::result::Result<R, TooLarge> {
        let weight = match self.repeated {
            Repeated::Sum if group.count > 1 => group.sum(self.weights)?,
            Repeated::First => without_order(group.weight),
            _ => group.weight,
        };
        Ok(R::new(group.source, group.dest, weight))
    }
}

impl Group {
    fn add(&mut self, weight: u64, of: WeightType) {
        let bits = unsortable(weight, of);
        match of {
            WeightType::U32 | WeightType::U64 => self.whole += u128::from(bits),
            WeightType::F32 => self.real += f64::from(f32::from_bits(bits as u32)),
            WeightType::F64 => self.real += f64::from_bits(bits),
        }
    }

    /// The sortable bits of the sum.
    fn sum(&self, of: WeightType) -> std::result::Result<u64, TooLarge> {
        let &Self { source, dest, whole, real, .. } = self;
        let too_large = |sum: String| TooLarge { source, dest, sum };
        let bits = match of {
            WeightType::U32 => u32::try_from(whole).map(u64::from).map_err(|_| too_large(whole.to_string()))?,
            WeightType::U64 => u64::try_from(whole).map_err(|_| too_large(whole.to_string()))?,
            WeightType::F32 if (real as f32).is_finite() => (real as f32).to_bits().into(),
            WeightType::F64 if real.is_finite() => real.to_bits(),
            WeightType::F32 | WeightType::F64 => return Err(too_large(real.to_string())),
        };
        Ok(sortable(bits, of))
    }
}

impl TooLarge {
    /// The error, with original ids.
    fn error(&self, of: WeightType, naming: &Naming, has_names: bool, place: &str) -> Error {
        let [source, dest] = [self.source, self.dest].map(|id| naming.original(id));
        let ends = match has_names {
            true => "the edges between two vertices".into(),
            false => format!("the edges from {source} to {dest}"),
        };
        let advice = match of {
            WeightType::U32 => "--weight-type u64 has room for them",
            WeightType::F32 => "--weight-type f64 has room for them",
            WeightType::U64 => "--weight-type f64 rounds them",
            WeightType::F64 => "--repeated max keeps the largest weight",
        };
        Error::Invalid(format!(
            "{place}: --repeated sum: expected sums of weights that {} holds, found {} for {ends}; {advice}",
            of.name(),
            self.sum
        ))
    }
}

/// Combines records in place.
fn fold<R: Record>(records: &mut Vec<R>, folding: &mut Folding) -> std::result::Result<(), TooLarge> {
    let mut kept = 0;
    for at in 0..records.len() {
        // A group ends at the record that begins the next one, so that its place is free.
        if let Some(record) = folding.push::<R, R>(records[at])? {
            records[kept] = record;
            kept += 1;
        }
    }
    if let Some(record) = folding.end::<R>()? {
        records[kept] = record;
        kept += 1;
    }
    records.truncate(kept);
    Ok(())
}

/// Records in memory that are combined.
enum Folded<K, R> {
    Done(Vec<R>),
    /// Records that leave no room for records of another type: they go to disk.
    NoRoom(Vec<K>),
}

impl<R: Record> Formatter<'_, R> {
    /// Replaces sorted edges with the same ends by one with the sum of their weights, or the largest.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a sum that the type of the weights does not hold; `place` is the input in messages.
    pub(super) fn combine(&mut self, ingested: Ingested<R>, place: &str) -> Result<Ingested<R>> {
        self.combined(ingested, place, |mut records, folding| {
            fold(&mut records, folding)?;
            Ok(Folded::Done(records))
        })
    }

    /// Replaces edges with the same ends by the first of them. Their weights have places above them.
    ///
    /// # Errors
    /// As for [`combine`](Self::combine).
    pub(super) fn keep_first(&mut self, ingested: Ingested<Wide>, place: &str) -> Result<Ingested<R>> {
        self.combined(ingested, place, |mut records, folding| {
            let room = records.capacity() * size_of::<Wide>();
            fold(&mut records, folding)?;
            if records.len() * (size_of::<Wide>() + size_of::<R>()) > room {
                return Ok(Folded::NoRoom(records));
            }
            records.shrink_to_fit();
            let narrow = |record: &Wide| {
                let (source, dest, weight) = record.parts();
                R::new(source, dest, weight)
            };
            Ok(Folded::Done(records.iter().map(narrow).collect()))
        })
    }

    /// Combines edges: those in memory by `in_memory`, others on their way to disk.
    fn combined<K: Record>(
        &mut self,
        ingested: Ingested<K>,
        place: &str,
        in_memory: impl FnOnce(Vec<K>, &mut Folding) -> std::result::Result<Folded<K, R>, TooLarge>,
    ) -> Result<Ingested<R>> {
        let Ingested { edges, naming, input_edges, self_loops_removed, seen, rounding, doubled, .. } = ingested;
        let (Some(repeated), Some(weights)) = (self.options.repeated, self.options.layout.weights) else {
            return Err(Error::Invalid(format!("{place}: expected weights to be combined, found none")));
        };
        let mut folding = Folding { repeated, weights, group: None, combined: 0 };
        let has_names = self.names.is_some();
        let failed = |large: TooLarge| large.error(weights, &naming, has_names, place);
        let edges = match edges {
            Collected::Memory(records) => match in_memory(records, &mut folding).map_err(failed)? {
                Folded::Done(records) => Collected::Memory(records),
                Folded::NoRoom(records) => self.to_disk(&Collected::Memory(records), &mut folding, failed)?,
            },
            others => self.to_disk(&others, &mut folding, failed)?,
        };
        self.combined += match doubled {
            // Every edge also met the reverse of the one from its other end: that does not make it a repeated one.
            true => input_edges - self_loops_removed - edges.records(),
            false => folding.combined,
        };
        Ok(Ingested { edges, naming, input_edges, self_loops_removed, seen, rounding, doubled, once: false })
    }

    /// Writes the combined records to a run of their own.
    fn to_disk<K: Record>(
        &self,
        edges: &Collected<K>,
        folding: &mut Folding,
        failed: impl Fn(TooLarge) -> Error,
    ) -> Result<Collected<R>> {
        let folder = &self.folder;
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder, "make a temporary file in"))?;
        let run = append::<R>(&file, folder, (0, true), |take| {
            let mut kept = Vec::new();
            edges.for_each(|records| {
                self.cancel.check()?;
                records.chunks(COMBINED_RECORDS).try_for_each(|some| {
                    kept.clear();
                    for &record in some {
                        kept.extend(folding.push::<K, R>(record).map_err(&failed)?);
                    }
                    take(&kept)
                })
            })?;
            let last = folding.end::<R>().map_err(&failed)?;
            last.map_or(Ok(()), |last| take(&[last]))
        })?;
        let block_records = block_records::<R>(self.budget.sort_bytes(), 1);
        let (folder, cancel) = (folder.clone(), self.cancel.clone());
        Ok(Collected::Runs(DiskRuns { folder, file, runs: vec![run], block_records, cancel }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeated::in_order;
    use super::*;
    use crate::sorting::record::Weighted;

    fn folded(repeated: Repeated, of: WeightType, edges: &[(u32, u32, u64)]) -> Result<Vec<(u32, u32, u64)>, String> {
        let mut folding = Folding { repeated, weights: of, group: None, combined: 0 };
        let mut records: Vec<Wide> =
            edges.iter().map(|&(source, dest, bits)| Wide::new(source, dest, sortable(bits, of))).collect();
        records.sort_unstable();
        fold(&mut records, &mut folding).map_err(|large| large.sum)?;
        assert_eq!(folding.combined as usize, edges.len() - records.len());
        let parts = records.iter().map(|record| record.parts());
        Ok(parts.map(|(source, dest, weight)| (source, dest, unsortable(weight, of))).collect())
    }

    #[test]
    fn sums_are_exact_or_refused() {
        let most = u64::from(u32::MAX);
        let of = |of, edges: &[_]| folded(Repeated::Sum, of, edges);
        let edges = [(1, 2, 7), (1, 3, most), (1, 2, most - 7), (2, 1, 5)];
        assert_eq!(of(WeightType::U32, &edges), Ok(vec![(1, 2, most), (1, 3, most), (2, 1, 5)]));
        let over = [(1, 2, most), (1, 2, 1)];
        assert_eq!(of(WeightType::U32, &over), Err("4294967296".into()));
        assert_eq!(of(WeightType::U64, &over), Ok(vec![(1, 2, most + 1)]));
        assert_eq!(of(WeightType::U64, &[(0, 0, u64::MAX), (0, 0, 2)]), Err("18446744073709551617".into()));
        assert_eq!(of(WeightType::U32, &[]), Ok(vec![]));
        // In double precision, from the smallest on: 2^25 and 8 times 1/4, which single precision would lose.
        let float = |value: f32| (5, 6, u64::from(value.to_bits()));
        let edges: Vec<_> = std::iter::once(float(33_554_432.0)).chain((0..16).map(|_| float(0.25))).collect();
        assert_eq!(of(WeightType::F32, &edges), Ok(vec![float(33_554_436.0)]));
        assert!(of(WeightType::F32, &[float(f32::MAX), float(f32::MAX)]).is_err());
        assert_eq!(of(WeightType::F32, &[float(f32::MAX), float(-f32::MAX)]), Ok(vec![float(0.0)]));
        let double = |value: f64| (5, 6, value.to_bits());
        assert_eq!(of(WeightType::F64, &[double(0.1), double(0.2)]), Ok(vec![double(0.1 + 0.2)]));
        assert!(of(WeightType::F64, &[double(f64::MAX), double(f64::MAX)]).is_err());
        // A single edge keeps its weight, to the bit.
        assert_eq!(of(WeightType::F32, &[float(-0.0)]), Ok(vec![float(-0.0)]));
    }

    #[test]
    fn places_order_weights_and_are_taken_off() {
        let records = [(1, 9), (2, 3), (3, u64::from(u32::MAX))];
        let numbers = records.map(|(place, weight)| in_order(place, weight).unwrap());
        assert!(numbers.is_sorted());
        assert_eq!(numbers.map(without_order), records.map(|(_, weight)| weight));
        assert!(matches!(in_order(1 << 32, 0), Err(Error::Limit { .. })));
        let mut folding = Folding { repeated: Repeated::First, weights: WeightType::U32, group: None, combined: 0 };
        let mut found: Vec<Weighted> =
            numbers.into_iter().filter_map(|of| folding.push(Wide::new(4, 5, of)).ok().flatten()).collect();
        found.extend(folding.end::<Weighted>().ok().flatten());
        assert_eq!(found, [Weighted::new(4, 5, 9)]);
    }
}
