//! Which run a checkpoint is of: everything that its answer depends on, field by field, so that a difference can be named.

use crate::algorithm::Algorithm;
use crate::attributes::{Attribute, AttributeType};
use crate::bits::Bits;
use crate::error::{Error, Result};
use std::fmt::Debug;
use topostream_formats::checksum::Crc32c;
use topostream_formats::manifest::Ids;
use topostream_formats::{Direction, Store, VertexId};

/// What an algorithm was asked for, by name: two with the same come to the same answer on the same graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

/// Vertices that are named one by one; of more, their checksum is.
const NAMED_MAX: usize = 8;

impl Parameters {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// One more. Numbers must be written in full, as `{:?}` does.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Debug) -> Self {
        self.0.push((name.into(), format!("{value:?}")));
        self
    }

    /// Vertices, in this order.
    #[must_use]
    pub fn with_vertices(self, name: &str, vertices: &[VertexId]) -> Self {
        let numbers: Vec<u32> = vertices.iter().map(|vertex| vertex.0).collect();
        self.with_numbers(name, &numbers)
    }

    /// A value for each of some vertices, in this order.
    #[must_use]
    pub fn with_values(mut self, name: &str, values: &[(VertexId, f32)]) -> Self {
        let words: Vec<u32> = values.iter().flat_map(|(vertex, value)| [vertex.0, value.to_bits()]).collect();
        let value = match values.len() {
            0..=NAMED_MAX => {
                format!("{:?}", values.iter().map(|(vertex, value)| (vertex.0, value)).collect::<Vec<_>>())
            }
            many => format!("{many}, checksum {:08x}", checksum(&words)),
        };
        self.0.push((name.into(), value));
        self
    }

    /// Numbers, in this order.
    #[must_use]
    pub fn with_numbers(mut self, name: &str, numbers: &[u32]) -> Self {
        let value = match numbers.len() {
            0..=NAMED_MAX => format!("{numbers:?}"),
            many => format!("{many}, checksum {:08x}", checksum(numbers)),
        };
        self.0.push((name.into(), value));
        self
    }

    /// A set of vertices.
    #[must_use]
    pub fn with_set(mut self, name: &str, set: &Bits) -> Self {
        let (count, _) = set.census(|_| 0);
        let mut sum = Crc32c::default();
        (0..set.len().div_ceil(32)).for_each(|word| sum.update(&set.half_word(word as u32).to_le_bytes()));
        self.0.push((name.into(), format!("{count} vertices, checksum {:08x}", sum.value())));
        self
    }

    /// Those of another algorithm that this one is made of.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }
}

fn checksum(numbers: &[u32]) -> u32 {
    let mut sum = Crc32c::default();
    numbers.iter().for_each(|number| sum.update(&number.to_le_bytes()));
    sum.value()
}

/// Names and values.
pub type Fields = Vec<(String, String)>;

/// See the module.
pub struct Identity(Fields);

impl Identity {
    /// That of a run. An algorithm that does not name its parameters has none.
    pub fn of(store: &Store, algorithm: &dyn Algorithm, declared: &[Attribute], asynchronous: bool) -> Result<Self> {
        let name = algorithm.name();
        let Some(Parameters(parameters)) = algorithm.parameters() else {
            let message = format!("{name} cannot be checkpointed: the algorithm does not say what its parameters are");
            return Err(Error::Parameter(message));
        };
        let mut fields: Fields = vec![("program".into(), format!("topostream {}", env!("CARGO_PKG_VERSION")))];
        fields.extend(graph(store));
        fields.push(("algorithm".into(), name.into()));
        fields.extend(parameters.into_iter().map(|(name, value)| (format!("parameter {name}"), value)));
        fields.push(("asynchronous".into(), asynchronous.to_string()));
        fields.push(("attributes".into(), declared.iter().map(attribute).collect::<Vec<_>>().join(", ")));
        Ok(Self(fields))
    }

    /// The fields.
    pub fn into_fields(self) -> Fields {
        self.0
    }

    /// What another run has otherwise; none where it is the same.
    pub fn differences(&self, other: &Fields) -> Option<String> {
        let value =
            |fields: &Fields, name: &str| fields.iter().find(|field| field.0 == name).map(|field| field.1.clone());
        let shown = |value: Option<String>| value.unwrap_or_else(|| "not there".into());
        let mut differences = Vec::new();
        for (name, here) in &self.0 {
            let there = value(other, name);
            if there.as_ref() != Some(here) {
                differences.push(format!("{name}: {} in the checkpoint, {here} in this run", shown(there)));
            }
        }
        for (name, there) in other.iter().filter(|(name, _)| value(&self.0, name).is_none()) {
            differences.push(format!("{name}: {there} in the checkpoint, not there in this run"));
        }
        (!differences.is_empty()).then(|| differences.join("; "))
    }
}

fn attribute(declared: &Attribute) -> String {
    let of = match declared.of {
        AttributeType::U32 => "u32",
        AttributeType::F32 => "f32",
        AttributeType::Fixed63 => "fixed63",
        AttributeType::Bit => "bit",
    };
    format!("{} {of}", declared.name)
}

/// What a store says of its graph. Where its pages lie may change.
fn graph(store: &Store) -> Fields {
    let manifest = store.manifest();
    let lists = |direction: Direction| {
        let summary = match direction {
            Direction::Out => Some(&manifest.out),
            Direction::In => manifest.in_lists.as_ref(),
        };
        summary.map_or_else(
            || "none".into(),
            |lists| format!("{} pages, checksums {:08x} {:08x}", lists.pages, lists.directory_crc, lists.degrees_crc),
        )
    };
    let ids = match &manifest.ids {
        Ids::Range { first } => format!("from {first} on"),
        Ids::File { crc, .. } => format!("a file, checksum {crc:08x}"),
    };
    [
        ("store: tag", format!("{:08x}", manifest.tag)),
        ("store: vertices", manifest.vertices.to_string()),
        ("store: edges", manifest.edges.to_string()),
        ("store: directed", manifest.directed.to_string()),
        ("store: weights", format!("{:?}", manifest.weights)),
        ("store: out-lists", lists(Direction::Out)),
        ("store: in-lists", lists(Direction::In)),
        ("store: ids", ids),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let fields =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let here = Identity(fields(&[("algorithm", "bfs"), ("parameter sources", "[3]")]));
        assert_eq!(here.differences(&fields(&[("algorithm", "bfs"), ("parameter sources", "[3]")])), None);
        let there = fields(&[("algorithm", "sssp"), ("parameter source", "[3]")]);
        let expected = "algorithm: sssp in the checkpoint, bfs in this run; \
            parameter sources: not there in the checkpoint, [3] in this run; \
            parameter source: [3] in the checkpoint, not there in this run";
        assert_eq!(here.differences(&there).as_deref(), Some(expected));
    }

    #[test]
    fn many_vertices_are_told_by_a_checksum() {
        let of = |numbers: &[u32]| Parameters::none().with_numbers("sources", numbers);
        let many: Vec<u32> = (0..100).collect();
        let mut others = many.clone();
        others[50] = 1000;
        assert_ne!(of(&many), of(&others));
        assert_eq!(of(&many), of(&many.clone()));
        assert_ne!(of(&[1]), of(&[2]));
    }
}
