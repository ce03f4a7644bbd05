//! The declaration of an algorithm, as far as modules depend on it: algorithms whose other parameters differ share
//! compiled kernels.

use super::text;
use crate::model::algorithm::{Algorithm, Declaration, Rule, Shader, Table, Visit, rule_of};
use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use topostream_formats::Direction;

/// Why an adapter cannot run an algorithm whose edges lower or raise 64-bit integers.
pub(in crate::device::gpu) const NO_WIDE_ATOMICS: &str =
    "its edges lower or raise 64-bit numbers, for which an adapter needs 64-bit atomics";

/// What modules depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name, for labels.
    pub name: &'static str,
    /// Its shader.
    pub shader: Shader,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Whether it has frontiers.
    pub traversal: bool,
    /// Its tables.
    pub tables: Vec<DeclaredTable>,
    /// The role of the attributes that are sent by list.
    pub listed: Option<Role>,
    /// The rule of its supersteps.
    pub rule: Rule,
    /// The bit attribute of the set whose lists supersteps visit, by index, if the device may list its vertices: the
    /// shader says which of them a vertex phase updates (`step_updates`).
    pub set: Option<usize>,
    /// The length of the longest lists of which it only needs the most frequent value.
    pub plurality: Option<u32>,
}

/// The declaration of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredTable {
    /// Its name in the shader.
    pub name: &'static str,
    /// Whether it belongs to the device, and may be written.
    pub own: bool,
}

impl Declared {
    /// The declaration of an algorithm without tables, whose lists are all visited and whose values are all sent, with
    /// one superstep.
    pub fn new(name: &'static str, shader: Shader, attributes: Vec<Attribute>, traversal: bool) -> Self {
        let rule = Rule::new(Vec::new(), |now| now.stop());
        Self { name, shader, attributes, traversal, tables: Vec::new(), listed: None, rule, set: None, plurality: None }
    }

    /// The declaration of an algorithm for a store with or without in-lists; none without a shader.
    pub fn of(algorithm: &dyn Algorithm, has_in_lists: bool) -> Option<Self> {
        Self::of_declaration(algorithm, &algorithm.declare(has_in_lists))
    }

    /// As [`of`](Self::of), for an algorithm with this declaration.
    pub fn of_declaration(algorithm: &dyn Algorithm, declaration: &Declaration) -> Option<Self> {
        let Declaration { name, attributes, tables, visits, traversal, .. } = declaration;
        let declared = Self::new(name, declaration.shader.clone()?, attributes.clone(), *traversal);
        let table = |table: &Table| DeclaredTable { name: table.name, own: table.is_own() };
        let tables = tables.iter().map(table).collect();
        let set = declared.set_of(visits);
        let (rule, plurality) = (rule_of(algorithm, declaration), declaration.plurality);
        Some(Self { tables, set, rule, plurality, ..declared })
    }

    /// The only set that supersteps visit, if the shader says what vertex phases update.
    fn set_of(&self, visits: &[(Direction, Visit)]) -> Option<usize> {
        let place = |&(_, visit): &(Direction, Visit)| match visit {
            Visit::Within(place) => Some(place),
            _ => None,
        };
        let mut places = visits.iter().filter_map(place);
        let set = places.next().filter(|&set| places.all(|other| other == set))?;
        (!self.traversal && self.declares(&["step_updates"])).then_some(set)
    }

    /// Whether its kernels may read out-degrees, over lists that are `grouped` for shards or not.
    pub fn reads_degrees(&self, grouped: bool) -> bool {
        let calls = |name: &str| self.shader.text.contains(name);
        self.traversal || self.set.is_some() || calls("degree_out") || grouped && calls("list_degree")
    }

    /// Whether its edges lower or raise 64-bit integers, for which an adapter needs 64-bit atomics.
    pub fn needs_wide_atomics(&self) -> bool {
        let is_lowered = |one: &Attribute| {
            one.of == AttributeType::U64 && one.role.is_written() && matches!(one.merge, Merge::Min | Merge::Max)
        };
        self.attributes.iter().any(is_lowered)
    }

    /// Whether several supersteps may follow each other, which a device can run without the host.
    pub fn decides(&self) -> bool {
        !self.rule.stops_at_once()
    }

    /// Whether its shader declares all of these names.
    pub(super) fn declares(&self, names: &[&str]) -> bool {
        let declared = text::declarations(self.shader.text);
        names.iter().all(|name| declared.iter().any(|one| one.name == *name))
    }
}
