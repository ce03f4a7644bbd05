//! Accessors: the functions through which shaders see attributes, degrees and frontiers, generated from their declaration.
//!
//! WGSL can neither hand a buffer to a function nor bind one of more than 2 GiB, so that each accessor names the buffers
//! itself: chunks of 2^k vertices. What may be written by several threads at once is atomic, and only that.

use super::bindings::{Access, Buffer, Resource};
use super::{Declared, KernelName, ModuleOptions};
use crate::attributes::{AttributeType, Role};
use std::collections::BTreeSet;

/// What an accessor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Load,
    Test,
    Word,
    Store,
    Add,
    Min,
    Max,
    Claim,
    Take,
    Insert,
}

use Operation::{Add, Claim, Insert, Load, Max, Min, Store, Take, Test, Word};

/// How a column's buffers are declared in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Read,
    Plain,
    Atomic,
}

/// A value for every vertex.
struct Column {
    name: &'static str,
    of: AttributeType,
    resource: fn(usize, u32) -> Resource,
    /// The place of an attribute.
    place: usize,
    /// Whether this kernel may write it.
    writable: bool,
}

/// The accessors that a module may use.
pub(super) struct Accessors<'a> {
    columns: Vec<Column>,
    kernel: KernelName,
    options: &'a ModuleOptions,
}

/// An accessor that is used: a column and what is done with it.
pub(super) type Used = BTreeSet<(usize, Operation)>;

impl<'a> Accessors<'a> {
    pub fn new(algorithm: &Declared, kernel: KernelName, options: &'a ModuleOptions) -> Self {
        let bits = |name, resource, writable| Column { name, of: AttributeType::Bit, resource, place: 0, writable };
        let mut columns = Vec::new();
        for (place, attribute) in algorithm.attributes.iter().enumerate() {
            let resource = |place, chunk| Resource::Attribute { place, chunk };
            let writable = kernel.is_over_vertices() || kernel.is_over_pages() && attribute.role == Role::Writable;
            columns.push(Column { name: attribute.name, of: attribute.of, resource, place, writable });
        }
        let resource = |_, chunk| Resource::OutDegrees(chunk);
        columns.push(Column { name: "out_degrees", of: AttributeType::U32, resource, place: 0, writable: false });
        if algorithm.traversal {
            columns.push(bits("frontier", |_, chunk| Resource::Frontier(chunk), false));
            columns.push(bits("next_frontier", |_, chunk| Resource::NextFrontier(chunk), kernel.is_over_pages()));
        }
        Self { columns, kernel, options }
    }

    /// The accessor of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<(usize, Operation)> {
        let own = |column: &str| self.columns.iter().position(|one| one.name == column);
        let (column, operation) = match name {
            "degree_out" => (own("out_degrees")?, Load),
            "is_active" => (own("frontier")?, Test),
            "activate" => (own("next_frontier")?, Insert),
            "next_frontier_word" => (own("next_frontier")?, Word),
            _ => {
                let (attribute, operation) = name.rsplit_once('_')?;
                let is_attribute = |column: &Column| matches!((column.resource)(0, 0), Resource::Attribute { .. });
                (own(attribute).filter(|&at| is_attribute(&self.columns[at]))?, Operation::named(operation)?)
            }
        };
        let Column { of, writable, .. } = self.columns[column];
        let may = operation.fits(of) && (writable || operation.reads());
        let may = may && (operation != Take || self.kernel.is_over_vertices());
        may.then_some((column, operation))
    }

    /// Whether an accessor that is used speaks of fixed-point sums.
    pub fn needs_fixed(&self, used: &Used) -> bool {
        used.iter().any(|&(column, _)| self.columns[column].of == AttributeType::Fixed63)
    }

    /// The buffers behind the accessors that are used.
    pub fn buffers(&self, used: &Used) -> Vec<Buffer> {
        let mut buffers = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            if !used.iter().any(|&(of, _)| of == place) {
                continue;
            }
            let mode = self.mode(place, used);
            let access = if mode == Mode::Read { Access::Read } else { Access::ReadWrite };
            let of = format!("array<{}>", self.cell(column.of, mode));
            for chunk in 0..self.options.chunks() {
                let name = format!("{}_{chunk}", column.name);
                buffers.push(Buffer { resource: (column.resource)(column.place, chunk), access, name, of: of.clone() });
            }
        }
        buffers
    }

    /// The accessors that are used, in WGSL.
    pub fn render(&self, used: &Used) -> String {
        used.iter().map(|&(column, operation)| self.function(column, operation, self.mode(column, used))).collect()
    }

    fn mode(&self, column: usize, used: &Used) -> Mode {
        let written = used.iter().any(|&(of, operation)| of == column && !operation.reads());
        // Vertices that share a word are different threads' even where each thread has its own vertices.
        let shared = self.kernel.is_over_pages() || self.columns[column].of == AttributeType::Bit;
        match (written, shared) {
            (false, _) => Mode::Read,
            (true, true) => Mode::Atomic,
            (true, false) => Mode::Plain,
        }
    }

    /// What a buffer is an array of.
    fn cell(&self, of: AttributeType, mode: Mode) -> &'static str {
        match (of, mode) {
            (AttributeType::F32, Mode::Atomic) if self.options.float_atomics => "atomic<f32>",
            (AttributeType::Fixed63, Mode::Atomic) if self.options.wide_integers => "atomic<u64>",
            (_, Mode::Atomic) => "atomic<u32>",
            (AttributeType::U32 | AttributeType::Bit, _) => "u32",
            (AttributeType::F32, _) => "f32",
            (AttributeType::Fixed63, _) => "vec2<u32>",
        }
    }

    /// One accessor. The body is written once for each chunk.
    fn function(&self, column: usize, operation: Operation, mode: Mode) -> String {
        let Column { name, of, .. } = self.columns[column];
        let function = match (name, operation) {
            ("out_degrees", Load) => "degree_out".into(),
            ("frontier", Test) => "is_active".into(),
            ("next_frontier", Insert) => "activate".into(),
            _ => format!("{name}_{}", operation.name()),
        };
        let signature = operation.signature(of);
        let body = self.body(of, operation, mode);
        let in_chunk = |chunk: u32, indent: &str| -> String {
            let buffer = format!("{name}_{chunk}");
            let lines: String = body.lines().map(|line| format!("{indent}{line}\n")).collect();
            let lines = lines.replace("CELL", &format!("{buffer}[at]")).replace("BUFFER", &buffer);
            lines.replace("ZERO", &format!("{}()", value_type(of)))
        };
        let (index, shift) = match operation {
            Word => ("word", self.options.attribute_chunk_vertices_log2 - 5),
            _ => ("vertex", self.options.attribute_chunk_vertices_log2),
        };
        let by_word = if of == AttributeType::Bit && operation != Word { " >> 5u" } else { "" };
        let chunks = self.options.chunks();
        if chunks == 1 {
            return format!("fn {function}{signature} {{\n    let at = {index}{by_word};\n{}}}\n", in_chunk(0, "    "));
        }
        let mask = (1u64 << shift) - 1;
        let mut text = format!("fn {function}{signature} {{\n    let at = ({index} & {mask:#x}u){by_word};\n");
        text += &format!("    switch {index} >> {shift}u {{\n");
        for chunk in 0..chunks {
            let case = if chunk + 1 == chunks { "default".into() } else { format!("case {chunk}u") };
            text += &format!("        {case}: {{\n{}        }}\n", in_chunk(chunk, "            "));
        }
        text + "    }\n}\n"
    }

    /// What an accessor does with CELL, a vertex's place in BUFFER.
    fn body(&self, of: AttributeType, operation: Operation, mode: Mode) -> &'static str {
        match (of, mode) {
            (AttributeType::Bit, _) => bit_body(operation, mode == Mode::Atomic),
            (AttributeType::Fixed63, Mode::Atomic) if self.options.wide_integers => wide_body(operation),
            (AttributeType::Fixed63, Mode::Atomic) => halves_body(operation),
            (AttributeType::Fixed63, _) if operation == Add => FIXED_ADD,
            (AttributeType::F32, Mode::Atomic) if !self.options.float_atomics => float_bits_body(operation),
            (_, Mode::Atomic) => atomic_body(operation),
            (_, Mode::Plain | Mode::Read) => plain_body(operation),
        }
    }
}

impl Operation {
    const ALL: [Self; 10] = [Load, Test, Word, Store, Add, Min, Max, Claim, Take, Insert];

    fn name(self) -> &'static str {
        match self {
            Load => "load",
            Test => "test",
            Word => "word",
            Store => "store",
            Add => "add",
            Min => "min",
            Max => "max",
            Claim => "claim",
            Take => "take",
            Insert => "insert",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    fn reads(self) -> bool {
        matches!(self, Load | Test | Word)
    }

    fn fits(self, of: AttributeType) -> bool {
        match self {
            Test | Word | Insert => of == AttributeType::Bit,
            Load | Store | Add | Take => of != AttributeType::Bit,
            Min | Max | Claim => of == AttributeType::U32,
        }
    }

    fn signature(self, of: AttributeType) -> String {
        let value = value_type(of);
        match self {
            Load | Take => format!("(vertex: u32) -> {value}"),
            Test | Insert => "(vertex: u32) -> bool".into(),
            Word => "(word: u32) -> u32".into(),
            Store | Add => format!("(vertex: u32, value: {value})"),
            Min | Max => "(vertex: u32, value: u32) -> bool".into(),
            Claim => "(vertex: u32, expected: u32, value: u32) -> bool".into(),
        }
    }
}

/// What accessors take and give.
fn value_type(of: AttributeType) -> &'static str {
    match of {
        AttributeType::U32 | AttributeType::Bit => "u32",
        AttributeType::F32 => "f32",
        AttributeType::Fixed63 => "Fixed",
    }
}

/// Values of a thread's own.
fn plain_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return CELL;",
        Store => "CELL = value;",
        Add => "CELL += value;",
        Min => "if CELL <= value { return false; }\nCELL = value;\nreturn true;",
        Max => "if CELL >= value { return false; }\nCELL = value;\nreturn true;",
        Claim => "if CELL != expected { return false; }\nCELL = value;\nreturn true;",
        Take => "let value = CELL;\nCELL = ZERO;\nreturn value;",
        Test | Word | Insert => unreachable!("of bits"),
    }
}

const FIXED_ADD: &str = "let low = CELL.x + value.x;
CELL = Fixed(low, CELL.y + value.y + select(0u, 1u, low < value.x));";

/// Values that several threads write. A test before the write spares most writes.
fn atomic_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return atomicLoad(&CELL);",
        Store => "atomicStore(&CELL, value);",
        Add => "atomicAdd(&CELL, value);",
        Min => "if atomicLoad(&CELL) <= value { return false; }\nreturn atomicMin(&CELL, value) > value;",
        Max => "if atomicLoad(&CELL) >= value { return false; }\nreturn atomicMax(&CELL, value) < value;",
        Claim => {
            "var seen = atomicLoad(&CELL);
while seen == expected {
    let result = atomicCompareExchangeWeak(&CELL, expected, value);
    if result.exchanged { return true; }
    seen = result.old_value;
}
return false;"
        }
        Take | Test | Word | Insert => unreachable!("not in page kernels"),
    }
}

/// Floats without native atomics.
fn float_bits_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return bitcast<f32>(atomicLoad(&CELL));",
        Store => "atomicStore(&CELL, bitcast<u32>(value));",
        Add => {
            "var seen = atomicLoad(&CELL);
loop {
    let sum = bitcast<u32>(bitcast<f32>(seen) + value);
    let result = atomicCompareExchangeWeak(&CELL, seen, sum);
    if result.exchanged { break; }
    seen = result.old_value;
}"
        }
        _ => unreachable!("not of floats in page kernels"),
    }
}

/// Fixed-point sums with native 64-bit atomics.
fn wide_body(operation: Operation) -> &'static str {
    match operation {
        Load => "let wide = atomicLoad(&CELL);\nreturn Fixed(u32(wide & 0xfffffffflu), u32(wide >> 32u));",
        Store => "atomicStore(&CELL, u64(value.x) | (u64(value.y) << 32u));",
        Add => "atomicAdd(&CELL, u64(value.x) | (u64(value.y) << 32u));",
        _ => unreachable!("not of sums in page kernels"),
    }
}

/// Fixed-point sums as two words: the low one's carry is added to the high one.
fn halves_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return Fixed(atomicLoad(&BUFFER[2u * at]), atomicLoad(&BUFFER[2u * at + 1u]));",
        Store => "atomicStore(&BUFFER[2u * at], value.x);\natomicStore(&BUFFER[2u * at + 1u], value.y);",
        Add => {
            "let low = atomicAdd(&BUFFER[2u * at], value.x);
let high = value.y + select(0u, 1u, low + value.x < low);
if high != 0u { atomicAdd(&BUFFER[2u * at + 1u], high); }"
        }
        _ => unreachable!("not of sums in page kernels"),
    }
}

fn bit_body(operation: Operation, atomic: bool) -> &'static str {
    match (operation, atomic) {
        (Test, false) => "return (CELL & (1u << (vertex & 31u))) != 0u;",
        (Test, true) => "return (atomicLoad(&CELL) & (1u << (vertex & 31u))) != 0u;",
        (Word, false) => "return CELL;",
        (Word, true) => "return atomicLoad(&CELL);",
        (Insert, true) => {
            "let bit = 1u << (vertex & 31u);
if (atomicLoad(&CELL) & bit) != 0u { return false; }
return (atomicOr(&CELL, bit) & bit) == 0u;"
        }
        _ => unreachable!("bits are inserted by atomics"),
    }
}
