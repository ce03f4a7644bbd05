//! Accessors: the functions through which shaders access attributes, degrees and frontiers, generated from their
//! declaration.
//!
//! WGSL can neither pass a buffer to a function nor bind one of more than 2 GiB, so each accessor names the buffers:
//! chunks of 2^k vertices. Values are atomic only if several threads may write them concurrently.
//!
//! In sharded modules, attributes that edges write are held for own vertices only; values received from owners of other
//! vertices are in a separate column, `NAME_seen`. If modules are bordering, those that edges only read are, too, and
//! `NAME_seen` has the values of vertices in the border, one after the other.

use super::bindings::{Access, Buffer, Resource};
use super::bodies::{
    atomic_body, bit_body, float_bits_body, halves_body, learn_body, plain_body, plain_wide_body, wide_body,
};
use super::operation::Operation::{
    self, Add, Claim, Clear, Insert, Join, Learn, Load, Max, Min, Or, Remove, Store, Take, Test, Word,
};
use super::operation::value_type;
use super::{Declared, KernelName, ModuleOptions};
use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use std::collections::BTreeSet;

/// How a column's buffers are declared in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Read,
    Plain,
    Atomic,
}

/// A value for every vertex.
struct Column {
    name: String,
    of: AttributeType,
    resource: fn(usize, u32) -> Resource,
    /// The index of the attribute.
    place: usize,
    /// Whether this kernel may write it.
    writable: bool,
    /// Whether its buffers are for own vertices only.
    held: bool,
    /// Whether its buffer is for vertices in the border.
    bordering: bool,
    /// Base-2 logarithm of the number of values in a word.
    log2: u32,
    /// How another device's values are merged.
    merge: Merge,
}

/// The accessors that a module may use.
pub(super) struct Accessors<'a> {
    columns: Vec<Column>,
    kernel: KernelName,
    options: &'a ModuleOptions,
    /// Whether accessors that write list the vertex.
    touches: bool,
}

/// The accessors in use: columns and operations.
pub(super) type Used = BTreeSet<(usize, Operation)>;

impl<'a> Accessors<'a> {
    pub fn new(algorithm: &Declared, kernel: KernelName, options: &'a ModuleOptions) -> Self {
        let touches = kernel.touches() && algorithm.set.is_some() && !options.sharded;
        let mut accessors = Self { columns: Vec::new(), kernel, options, touches };
        let by_messages = kernel == KernelName::Apply;
        for (place, attribute) in algorithm.attributes.iter().enumerate() {
            let is_written = attribute.role.is_written();
            let by_edges = kernel.is_over_pages() || by_messages;
            let column = Column {
                name: attribute.name.into(),
                of: attribute.of,
                resource: |place, chunk| Resource::Attribute { place, chunk },
                place,
                writable: kernel.is_over_vertices() || by_edges && is_written,
                held: options.sharded && is_written || options.is_bordering(attribute),
                bordering: false,
                log2: 0,
                merge: attribute.merge,
            };
            accessors.columns.push(column);
        }
        let resource = |_, chunk| Resource::OutDegrees(chunk);
        accessors.push("out_degrees".into(), AttributeType::U32, resource, false);
        if algorithm.traversal {
            let clears = kernel == KernelName::Census && options.clears;
            accessors.push("frontier".into(), AttributeType::Bit, |_, chunk| Resource::Frontier(chunk), clears);
            let writable = kernel.is_over_pages() || by_messages || kernel == KernelName::Defer;
            accessors.push(
                "next_frontier".into(),
                AttributeType::Bit,
                |_, chunk| Resource::NextFrontier(chunk),
                writable,
            );
        }
        accessors.columns[algorithm.attributes.len()].held = options.sharded;
        if kernel == KernelName::Census && options.levels > 0 {
            accessors.push("levels".into(), AttributeType::U32, |_, chunk| Resource::Levels(chunk), true);
            accessors.columns.last_mut().expect("just pushed").log2 = 1;
        }
        for (place, table) in algorithm.tables.iter().enumerate() {
            let writable = table.own && (kernel.is_over_pages() || kernel.is_over_vertices());
            accessors.push(table.name.into(), AttributeType::U32, |place, _| Resource::Table(place), writable);
            accessors.columns.last_mut().expect("just pushed").place = place;
        }
        let copied = |one: &Attribute| options.sharded && one.role == Role::Writable || options.is_bordering(one);
        for (place, attribute) in algorithm.attributes.iter().enumerate().filter(|(_, one)| copied(one)) {
            let resource = |place, chunk| Resource::Seen { place, chunk };
            accessors.push(format!("{}_seen", attribute.name), attribute.of, resource, by_messages);
            let column = accessors.columns.last_mut().expect("just pushed");
            (column.place, column.bordering) = (place, options.is_bordering(attribute));
        }
        accessors
    }

    /// Appends a column for all vertices.
    fn push(&mut self, name: String, of: AttributeType, resource: fn(usize, u32) -> Resource, writable: bool) {
        let (held, bordering) = (false, false);
        let column = Column { name, of, resource, place: 0, writable, held, bordering, log2: 0, merge: Merge::Or };
        self.columns.push(column);
    }

    /// The accessor with a name, if there is one.
    pub fn find(&self, name: &str) -> Option<(usize, Operation)> {
        let own = |column: &str| self.columns.iter().position(|one| one.name == column);
        let (column, operation) = match name {
            // Out-degrees are held for own vertices only, but edges may have any source.
            "degree_out" if self.options.sharded && self.kernel.is_over_pages() => return None,
            "degree_out" => (own("out_degrees")?, Load),
            "is_active" => (own("frontier")?, Test),
            "activate" => (own("next_frontier")?, Insert),
            "frontier_word" => (own("frontier")?, Word),
            "next_frontier_word" => (own("next_frontier")?, Word),
            "next_frontier_join" => (own("next_frontier")?, Join),
            "frontier_clear" => (own("frontier")?, Clear),
            // Levels of a pair of vertices.
            "levels_load" if self.kernel == KernelName::Census => (own("levels")?, Load),
            "levels_store" if self.kernel == KernelName::Census => (own("levels")?, Store),
            _ => {
                let (attribute, operation) = name.rsplit_once('_')?;
                let is_attribute = |column: &Column| {
                    matches!(
                        (column.resource)(0, 0),
                        Resource::Attribute { .. } | Resource::Seen { .. } | Resource::Table(_)
                    )
                };
                (own(attribute).filter(|&at| is_attribute(&self.columns[at]))?, Operation::named(operation)?)
            }
        };
        let Column { of, writable, .. } = self.columns[column];
        let may = operation.fits(of) && (writable || operation.reads());
        let may = may && (!matches!(operation, Take | Remove) || self.kernel.is_over_vertices());
        let may = may && (self.kernel == KernelName::Apply || operation != Learn);
        let may = may && (matches!(self.kernel, KernelName::Apply | KernelName::Defer) || operation != Join);
        let may = may && (self.kernel == KernelName::Census || operation != Clear);
        may.then_some((column, operation))
    }

    /// Whether an accessor in use lowers or raises a 64-bit integer that several threads write as two words.
    pub fn compares_halves(&self, used: &Used) -> bool {
        let compares = |&(column, operation): &(usize, Operation)| {
            let is_wide = self.columns[column].of.is_wide() && matches!(operation, Min | Max);
            is_wide && !self.options.wide_integers && self.mode(column, used) == Mode::Atomic
        };
        used.iter().any(compares)
    }

    /// The types of parameters and results of the accessors in use.
    pub fn types(&self, used: &Used) -> BTreeSet<&'static str> {
        used.iter().map(|&(column, _)| value_type(self.columns[column].of)).collect()
    }

    /// The buffers of the accessors in use.
    pub fn buffers(&self, used: &Used) -> Vec<Buffer> {
        let mut buffers = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            if !used.iter().any(|&(of, _)| of == place) {
                continue;
            }
            let mode = self.mode(place, used);
            let access = if mode == Mode::Read { Access::Read } else { Access::ReadWrite };
            let of = format!("array<{}>", self.cell(column.of, mode));
            for chunk in 0..self.chunks(column) {
                let name = format!("{}_{chunk}", column.name);
                buffers.push(Buffer { resource: (column.resource)(column.place, chunk), access, name, of: of.clone() });
            }
        }
        buffers
    }

    /// The accessors in use, in WGSL.
    pub fn render(&self, used: &Used) -> String {
        used.iter().map(|&(column, operation)| self.function(column, operation, self.mode(column, used))).collect()
    }

    /// The functions that an accessor calls.
    pub fn calls(&self, (column, operation): (usize, Operation)) -> Vec<String> {
        let touched = if self.is_touch(column, operation) { "note_touched()" } else { "" };
        let text = self.opening(column, operation) + self.closing(column, operation) + touched;
        let before = |at: usize| text[..at].rsplit(|char: char| !char.is_ascii_alphanumeric() && char != '_').next();
        text.match_indices('(').filter_map(|(at, _)| before(at)).map(str::to_owned).collect()
    }

    fn chunks(&self, column: &Column) -> u32 {
        match (column.resource)(0, 0) {
            Resource::Table(_) => 1,
            Resource::Levels(_) => self.options.level_chunks(),
            _ if column.bordering => self.options.border_chunks(),
            _ if column.held => self.options.held_chunks(),
            _ => self.options.chunks(),
        }
    }

    /// The first statements of an accessor: in sharded modules, they handle vertices that are not the device's own.
    fn opening(&self, column: usize, operation: Operation) -> String {
        let Column { name, of, place, held, bordering, resource, .. } = &self.columns[column];
        let is_next = matches!(resource(0, 0), Resource::NextFrontier(_));
        if is_next && operation == Insert && self.options.sharded && self.kernel.is_over_pages() {
            return "if !is_own(vertex) { return false; }\n".into();
        }
        if *bordering {
            let check = if operation.reads() { "" } else { "if !is_in_border(vertex) { return; }\n" };
            return format!("{check}let place = border_place(vertex);\n");
        }
        if !held {
            return String::new();
        }
        if operation == Word {
            return "let own = own_bits(word);\nif own == 0u { return 0u; }\nlet held = word - held_first() / 32u;\n"
                .into();
        }
        let seen = |column: &Column| column.place == *place && matches!((column.resource)(0, 0), Resource::Seen { .. });
        let has_seen = self.columns.iter().any(seen);
        let otherwise = match operation {
            Load | Test if has_seen => format!("return {name}_seen_{}(vertex);", operation.name()),
            Load => format!("return {}();", value_type(*of)),
            Store | Add | Take | Remove | Learn | Join | Clear => "return;".into(),
            Test | Min | Max | Or | Claim | Insert | Word => "return false;".into(),
        };
        let check = format!("if !is_own(vertex) {{ {otherwise} }}\n");
        let check = if self.kernel.is_over_pages() { check } else { String::new() };
        check + "let held = vertex - held_first();\n"
    }

    /// A statement before the end of an accessor that has inserted a vertex: kernels of small frontiers list it.
    fn closing(&self, column: usize, operation: Operation) -> &'static str {
        let is_next = matches!((self.columns[column].resource)(0, 0), Resource::NextFrontier(_));
        let lists = is_next && operation == Insert && self.kernel.lists_active() && !self.options.sharded;
        if lists { "note_activated(vertex);\n" } else { "" }
    }

    /// Whether an accessor's vertex is listed for the vertex phase.
    fn is_touch(&self, column: usize, operation: Operation) -> bool {
        let is_attribute = matches!((self.columns[column].resource)(0, 0), Resource::Attribute { .. });
        self.touches && is_attribute && !operation.reads()
    }

    /// The accessor that an algorithm calls, if `inner` has been written and its vertex has to be listed.
    fn touching(function: &str, inner: &str, operation: Operation, of: AttributeType) -> String {
        let signature = operation.signature(of);
        let names = match operation {
            Insert => "vertex",
            Claim => "vertex, expected, value",
            _ => "vertex, value",
        };
        if signature.ends_with("bool") {
            return format!(
                "fn {function}{signature} {{\n    let changed = {inner}({names});\n    if changed {{\n        \
                 note_touched(vertex);\n    }}\n    return changed;\n}}\n"
            );
        }
        format!("fn {function}{signature} {{\n    {inner}({names});\n    note_touched(vertex);\n}}\n")
    }

    fn mode(&self, column: usize, used: &Used) -> Mode {
        let written = used.iter().any(|&(of, operation)| of == column && !operation.reads());
        // Bits of one word belong to different threads even if each vertex belongs to one thread.
        let shared = self.kernel.is_over_pages() || self.columns[column].of == AttributeType::Bit;
        match (written, shared) {
            (false, _) => Mode::Read,
            (true, true) => Mode::Atomic,
            (true, false) => Mode::Plain,
        }
    }

    /// The element type of a buffer.
    fn cell(&self, of: AttributeType, mode: Mode) -> &'static str {
        match (of, mode) {
            (AttributeType::F32, Mode::Atomic) if self.options.float_atomics => "atomic<f32>",
            (AttributeType::Fixed63 | AttributeType::U64, Mode::Atomic) if self.options.wide_integers => "atomic<u64>",
            (_, Mode::Atomic) => "atomic<u32>",
            (AttributeType::U32 | AttributeType::Bit, _) => "u32",
            (AttributeType::F32, _) => "f32",
            (AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64, _) => "vec2<u32>",
        }
    }

    /// The text of an accessor.
    fn function(&self, column: usize, operation: Operation, mode: Mode) -> String {
        let Column { ref name, of, .. } = self.columns[column];
        let function = match (name.as_str(), operation) {
            ("out_degrees", Load) => "degree_out".into(),
            ("frontier", Test) => "is_active".into(),
            ("next_frontier", Insert) => "activate".into(),
            _ => format!("{name}_{}", operation.name()),
        };
        if self.is_touch(column, operation) {
            let inner = format!("{function}_alone");
            return self.plain(column, operation, mode, &inner) + &Self::touching(&function, &inner, operation, of);
        }
        self.plain(column, operation, mode, &function)
    }

    /// The text of an accessor that lists nothing, with a copy of the body for each chunk.
    fn plain(&self, column: usize, operation: Operation, mode: Mode, function: &str) -> String {
        let Column { ref name, of, held, bordering, log2, merge, .. } = self.columns[column];
        let signature = operation.signature(of);
        let body = self.body(of, operation, mode, merge) + self.closing(column, operation);
        let body = if operation == Insert { body + "return true;" } else { body };
        let body = if held && operation == Word { body.replace(';', " & own;") } else { body };
        let in_chunk = |chunk: u32, indent: &str| -> String {
            let buffer = format!("{name}_{chunk}");
            let lines: String = body.lines().map(|line| format!("{indent}{line}\n")).collect();
            let lines = lines.replace("CELL", &format!("{buffer}[at]")).replace("BUFFER", &buffer);
            lines.replace("ZERO", &format!("{}()", value_type(of)))
        };
        let is_word = matches!(operation, Word | Join | Clear);
        let shift = self.options.attribute_chunk_vertices_log2 - if is_word { 5 } else { log2 };
        let index = match (held, bordering) {
            (true, _) => "held",
            (_, true) => "place",
            _ => operation.index(),
        };
        let by_word = if of == AttributeType::Bit && !is_word { " >> 5u" } else { "" };
        let opening: String = self.opening(column, operation).lines().map(|line| format!("    {line}\n")).collect();
        let chunks = self.chunks(&self.columns[column]);
        if chunks == 1 {
            return format!(
                "fn {function}{signature} {{\n{opening}    let at = {index}{by_word};\n{}}}\n",
                in_chunk(0, "    ")
            );
        }
        let mask = (1u64 << shift) - 1;
        let mut text = format!("fn {function}{signature} {{\n{opening}    let at = ({index} & {mask:#x}u){by_word};\n");
        text += &format!("    switch {index} >> {shift}u {{\n");
        for chunk in 0..chunks {
            let case = if chunk + 1 == chunks { "default".into() } else { format!("case {chunk}u") };
            text += &format!("        {case}: {{\n{}        }}\n", in_chunk(chunk, "            "));
        }
        text + "    }\n}\n"
    }

    /// The body of an accessor: operates on CELL, a vertex's element of BUFFER.
    fn body(&self, of: AttributeType, operation: Operation, mode: Mode, merge: Merge) -> String {
        let body = match (of, mode) {
            _ if operation == Learn => return learn_body(of, merge),
            (AttributeType::Bit, _) => bit_body(operation, mode == Mode::Atomic),
            (_, Mode::Atomic) if of.is_wide() && self.options.wide_integers => wide_body(operation),
            (_, Mode::Atomic) if of.is_wide() => halves_body(operation),
            _ if of.is_wide() => plain_wide_body(operation),
            (AttributeType::F32, Mode::Atomic) if !self.options.float_atomics => float_bits_body(operation),
            (_, Mode::Atomic) => atomic_body(operation),
            (_, Mode::Plain | Mode::Read) => plain_body(operation),
        };
        body.into()
    }
}
