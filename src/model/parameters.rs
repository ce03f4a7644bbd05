//! The parameters of an algorithm, as checkpoints record them.

use super::vertex_set::VertexSet;
use std::fmt::Debug;
use std::sync::Arc;
use topostream_formats::VertexId;
use topostream_formats::checksum::Crc32c;

/// The parameters of an algorithm, by name: runs with equal parameters have the same result on the same graph.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(String, Value)>);

#[derive(Clone, Debug)]
enum Value {
    Text(String),
    /// Read only if the parameters are asked for.
    Set(Arc<VertexSet>),
}

/// The maximum number of vertices that are listed one by one; for longer lists a checksum is recorded.
const NAMED_MAX: usize = 8;

impl Parameters {
    /// No parameters.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a parameter. Numbers must be written in full, as `{:?}` does.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Debug) -> Self {
        self.0.push((name.into(), Value::Text(format!("{value:?}"))));
        self
    }

    /// Adds vertices, in this order.
    #[must_use]
    pub fn with_vertices(self, name: &str, vertices: &[VertexId]) -> Self {
        let numbers: Vec<u32> = vertices.iter().map(|vertex| vertex.0).collect();
        self.with_numbers(name, &numbers)
    }

    /// Adds a value for each of some vertices, in this order.
    #[must_use]
    pub fn with_values(mut self, name: &str, values: &[(VertexId, f32)]) -> Self {
        let words: Vec<u32> = values.iter().flat_map(|(vertex, value)| [vertex.0, value.to_bits()]).collect();
        let value = match values.len() {
            0..=NAMED_MAX => {
                format!("{:?}", values.iter().map(|(vertex, value)| (vertex.0, value)).collect::<Vec<_>>())
            }
            many => format!("{many}, checksum {:08x}", checksum(&words)),
        };
        self.0.push((name.into(), Value::Text(value)));
        self
    }

    /// Adds numbers, in this order.
    #[must_use]
    pub fn with_numbers(mut self, name: &str, numbers: &[u32]) -> Self {
        let value = match numbers.len() {
            0..=NAMED_MAX => format!("{numbers:?}"),
            many => format!("{many}, checksum {:08x}", checksum(numbers)),
        };
        self.0.push((name.into(), Value::Text(value)));
        self
    }

    /// Adds a set of vertices.
    #[must_use]
    pub fn with_set(mut self, name: &str, set: &Arc<VertexSet>) -> Self {
        self.0.push((name.into(), Value::Set(Arc::clone(set))));
        self
    }

    /// Names and values, in the order in which they were added.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().map(|(name, value)| (&**name, value.written()))
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.fields().eq(other.fields())
    }
}

impl Eq for Parameters {}

impl Value {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Set(set) => {
                let (set, mut sum) = (set.bits(), Crc32c::default());
                let (count, _) = set.census(|_| 0);
                (0..set.len().div_ceil(32)).for_each(|word| sum.update(&set.half_word(word as u32).to_le_bytes()));
                format!("{count} vertices, checksum {:08x}", sum.value())
            }
        }
    }
}

fn checksum(numbers: &[u32]) -> u32 {
    let mut sum = Crc32c::default();
    numbers.iter().for_each(|number| sum.update(&number.to_le_bytes()));
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_vertices_are_distinguished_by_a_checksum() {
        let of = |numbers: &[u32]| Parameters::none().with_numbers("sources", numbers);
        let many: Vec<u32> = (0..100).collect();
        let mut others = many.clone();
        others[50] = 1000;
        assert_ne!(of(&many), of(&others));
        assert_eq!(of(&many), of(&many.clone()));
        assert_ne!(of(&[1]), of(&[2]));
    }
}
