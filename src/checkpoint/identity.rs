//! The identity of a run: everything that its answer depends on, as named fields, so that errors can name differences.

use crate::error::{Error, Result};
use crate::model::algorithm::Declaration;
use crate::model::attributes::Attribute;
use topostream_formats::manifest::Ids;
use topostream_formats::{Direction, Store};

/// Names and values.
pub type Fields = Vec<(String, String)>;

/// The run that a checkpoint belongs to.
pub struct Identity(Fields);

impl Identity {
    /// Returns the identity of a run.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the algorithm does not declare its parameters.
    pub fn of(store: &Store, declaration: &Declaration, asynchronous: bool) -> Result<Self> {
        let name = declaration.name;
        let Some(parameters) = &declaration.parameters else {
            let message = format!("{name} cannot be checkpointed: the algorithm does not declare its parameters");
            return Err(Error::Parameter(message));
        };
        let mut fields: Fields = vec![("program".into(), format!("topostream {}", env!("CARGO_PKG_VERSION")))];
        fields.extend(graph(store));
        fields.push(("algorithm".into(), name.into()));
        fields.extend(parameters.fields().map(|(name, value)| (format!("parameter {name}"), value)));
        fields.push(("asynchronous".into(), asynchronous.to_string()));
        fields.push(("attributes".into(), declaration.attributes.iter().map(attribute).collect::<Vec<_>>().join(", ")));
        Ok(Self(fields))
    }

    /// The fields.
    pub fn into_fields(self) -> Fields {
        self.0
    }

    /// Describes the fields that differ from another run's. Returns `None` if all are equal.
    pub fn differences(&self, other: &Fields) -> Option<String> {
        let value =
            |fields: &Fields, name: &str| fields.iter().find(|field| field.0 == name).map(|field| field.1.clone());
        let shown = |value: Option<String>| value.unwrap_or_else(|| "absent".into());
        let mut differences = Vec::new();
        for (name, here) in &self.0 {
            let there = value(other, name);
            if there.as_ref() != Some(here) {
                differences.push(format!("{name}: {} in the checkpoint, {here} in this run", shown(there)));
            }
        }
        for (name, there) in other.iter().filter(|(name, _)| value(&self.0, name).is_none()) {
            differences.push(format!("{name}: {there} in the checkpoint, absent in this run"));
        }
        (!differences.is_empty()).then(|| differences.join("; "))
    }
}

fn attribute(declared: &Attribute) -> String {
    format!("{} {}", declared.name, declared.of.name())
}

/// Returns the fields of a store's graph. The location of its files is not among them. Parts of a graph have pages and
/// tags of their own, and the same fields.
pub fn graph(store: &Store) -> Fields {
    if let Some(part) = store.part().filter(|_| store.is_partial()) {
        let whole = format!("{:?}", part.whole);
        return vec![("store: ends of parts".into(), format!("{:?}", part.ends)), ("store: whole graph".into(), whole)];
    }
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
        Ids::File { crc, .. } | Ids::Packed { crc, .. } | Ids::Names { crc, .. } => {
            format!("a file, checksum {crc:08x}")
        }
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
            parameter sources: absent in the checkpoint, [3] in this run; \
            parameter source: [3] in the checkpoint, absent in this run";
        assert_eq!(here.differences(&there).as_deref(), Some(expected));
    }
}
