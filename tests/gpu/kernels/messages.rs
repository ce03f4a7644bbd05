//! `collect` and `ship` compared with a plain reader of messages, and `apply` with a plain writer.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::gpu::{Buffers, Gpu};
use super::graph::Chance;
use super::{gpu, words_each};
use topostream::Direction;
use topostream::device::exchange::message::MessageLayout;
use topostream::device::gpu::compose::layout::{MessageParams, Step, collected_words, message_groups, sparse_max};
use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, Resource, compose};
use topostream::model::Part;
use topostream::model::algorithm::{Shader, Visit};
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use topostream_formats::Encoding;

const VERTICES: u32 = 50_003;
/// Word offset of messages: not a multiple of 32, as between pieces.
const BEGIN: usize = 100;
/// Initial contents of exchange memory.
const UNTOUCHED: u32 = 0xdead_beef;

fn attributes() -> Vec<Attribute> {
    use AttributeType::{Bit, F32, U32};
    let attribute = |name, of, role, merge| Attribute { name, of, role, merge, initial: Initial::Bits(0), lane: None };
    vec![
        attribute("near", U32, Role::Writable, Merge::Min),
        attribute("met", Bit, Role::Writable, Merge::Or),
        attribute("far", U32, Role::Own, Merge::Max),
        attribute("given", F32, Role::Gathered, Merge::Max),
        attribute("mass", F32, Role::Accumulated, Merge::Add),
        attribute("found", Bit, Role::Accumulated, Merge::Or),
        attribute("heat", F32, Role::Writable, Merge::Min),
        attribute("flags", U32, Role::Writable, Merge::Or),
        attribute("cold", F32, Role::Writable, Merge::Max),
        attribute("count", U32, Role::Accumulated, Merge::Add),
        attribute("shut", Bit, Role::Writable, Merge::Or),
        attribute("reached", Bit, Role::Accumulated, Merge::Activation),
    ]
}

/// 64-bit integers, of two words each.
fn wide() -> Vec<Attribute> {
    use AttributeType::{Bit, U32, U64};
    let attribute = |name, of, role, merge| Attribute { name, of, role, merge, initial: Initial::Bits(0), lane: None };
    vec![
        attribute("least", U64, Role::Writable, Merge::Min),
        attribute("met", Bit, Role::Writable, Merge::Or),
        attribute("near", U32, Role::Writable, Merge::Min),
        attribute("most", U64, Role::Accumulated, Merge::Max),
    ]
}

/// Sets that follow activations, which messages do not carry.
fn followers() -> Vec<Attribute> {
    let (of, merge, initial) = (AttributeType::Bit, Merge::Activation, Initial::Bits(0));
    let set = |name, role| Attribute { name, of, role, merge, initial, lane: None };
    vec![set("visited", Role::Writable), set("ever", Role::Accumulated)]
}

/// The contents of a message by vertex: membership in sets, and values.
type Changes = BTreeMap<u32, (Vec<bool>, Vec<u32>)>;

/// One device and one message. Columns have all vertices; the device gets the part that it holds.
struct Case {
    declared: Declared,
    options: ModuleOptions,
    part: Part,
    about: Range<u64>,
    next: Vec<u32>,
    columns: Vec<Vec<u32>>,
}

fn bit(words: &[u32], vertex: u32) -> bool {
    words[vertex as usize / 32] >> (vertex % 32) & 1 != 0
}

impl Case {
    fn new(gpu: &Gpu, attributes: Vec<Attribute>, part: Part, about: Range<u64>, chunk_log2: u32) -> Self {
        let mut chance = Chance(about.end + u64::from(chunk_log2));
        let words = u64::from(VERTICES).div_ceil(32) as usize;
        let column = |attribute: &Attribute, chance: &mut Chance| -> Vec<u32> {
            let number = |chance: &mut Chance| match attribute.of {
                AttributeType::F32 => (chance.below(1 << 20) as f32 / 64.0).to_bits(),
                _ => chance.next() as u32,
            };
            let count = match attribute.of {
                AttributeType::Bit => words,
                of => words_each(of) * VERTICES as usize,
            };
            (0..count).map(|_| number(chance)).collect()
        };
        let columns = attributes.iter().map(|one| column(one, &mut chance)).collect();
        let shader = Shader::new("none.wgsl", "");
        let options = ModuleOptions {
            encoding: Encoding::VertexId,
            page_bytes: 64 << 10,
            weights: false,
            direction: Direction::Out,
            visit: Visit::Frontier,
            attribute_chunk_vertices_log2: chunk_log2,
            vertices: VERTICES.into(),
            grouped: false,
            sharded: part.sharded,
            held_vertices: part.own_words().end - part.own_words().start,
            bordering: None,
            float_atomics: gpu.float_atomics,
            wide_integers: false,
            subgroups: gpu.subgroups,
            in_place: false,
            unpacks: false,
            loops_limited: false,
            levels: 0,
            clears: false,
            lists: false,
            tabled: false,
        };
        let declared = Declared::new("messaging", shader, attributes, true);
        Self { declared, options, part, about, next: vec![0; words], columns }
    }

    /// Activates random vertices, one in this many; none for 0.
    fn activate(&mut self, every: u32, only: &Range<u64>) {
        let mut chance = Chance(u64::from(every));
        self.next.fill(0);
        for vertex in only.clone().filter(|_| every != 0) {
            if chance.below(every) == 0 {
                self.next[vertex as usize / 32] |= 1 << (vertex % 32);
            }
        }
    }

    fn layout(&self) -> MessageLayout {
        MessageLayout::new(&self.declared.attributes, self.part.sharded)
    }

    fn message(&self) -> MessageParams {
        let last = (self.about.end - 1) as u32;
        let sparse_max = sparse_max(&self.layout(), &self.about);
        MessageParams { first: self.about.start as u32, last, begin: BEGIN as u32, sparse_max }
    }

    /// The words of a column that the device holds.
    fn held(&self, place: usize) -> Range<usize> {
        let Attribute { of, role, .. } = self.declared.attributes[place];
        let held = self.part.held(role);
        match of {
            AttributeType::Bit => held.start as usize / 32..held.end.div_ceil(32) as usize,
            of => words_each(of) * held.start as usize..words_each(of) * held.end as usize,
        }
    }

    /// The index of a word of a vertex's value in a column of all vertices.
    fn word(&self, place: usize, vertex: u32, below: u32) -> usize {
        words_each(self.declared.attributes[place].of) * vertex as usize + below as usize / 32
    }

    fn put(&self, gpu: &Gpu, buffers: &mut Buffers, of: AttributeType, words: &[u32], at: impl Fn(u32) -> Resource) {
        let chunk = 1usize << self.options.attribute_chunk_vertices_log2;
        let chunk = if words_each(of) == 0 { chunk / 32 } else { words_each(of) * chunk };
        for (number, words) in words.chunks(chunk).enumerate() {
            buffers.insert(at(number as u32), gpu.buffer(words));
        }
    }

    fn get(&self, gpu: &Gpu, buffers: &Buffers, words: usize, at: impl Fn(u32) -> Resource) -> Vec<u32> {
        let chunks = (0..).map_while(|chunk| buffers.get(&at(chunk)));
        chunks.flat_map(|buffer| gpu.read(buffer)).take(words).collect()
    }

    fn buffers(&self, gpu: &Gpu) -> Buffers {
        let mut buffers = HashMap::new();
        for (place, attribute) in self.declared.attributes.iter().enumerate() {
            let words = &self.columns[place][self.held(place)];
            self.put(gpu, &mut buffers, attribute.of, words, |chunk| Resource::Attribute { place, chunk });
            if self.part.has_seen(attribute.role) {
                let seen = vec![0; self.columns[place].len()];
                self.put(gpu, &mut buffers, attribute.of, &seen, |chunk| Resource::Seen { place, chunk });
            }
        }
        self.put(gpu, &mut buffers, AttributeType::Bit, &self.next, Resource::NextFrontier);
        let own = &self.part.own;
        let step = Step {
            vertices_last: VERTICES - 1,
            own_first: own.start as u32,
            own_last: (own.end - 1) as u32,
            ..Step::default()
        };
        buffers.insert(Resource::Step, gpu.buffer(bytemuck::cast_slice(&[step])));
        buffers.insert(Resource::Message, gpu.buffer(bytemuck::cast_slice(&[self.message()])));
        buffers
    }

    /// The expected contents of this device's message: under sharding, of own vertices only.
    fn changes(&self) -> Changes {
        let layout = self.layout();
        let of = |vertex| {
            let sets = layout.bits.iter().map(|&place| bit(&self.columns[place], vertex)).collect();
            (
                sets,
                layout.words().map(|(place, below, _)| self.columns[place][self.word(place, vertex, below)]).collect(),
            )
        };
        let is_sent = |&vertex: &u32| bit(&self.next, vertex) && (!self.part.sharded || self.part.owns(vertex));
        let active = (self.about.start as u32..self.about.end as u32).filter(is_sent);
        active.map(|vertex| (vertex, of(vertex))).collect()
    }

    /// The words of a message from `collect` and `ship`, and the rest of exchange memory.
    fn sent(&self, gpu: &Gpu, grids: [[u32; 2]; 2]) -> Vec<u32> {
        let mut buffers = self.buffers(gpu);
        let mut collected = vec![UNTOUCHED; collected_words(&self.layout(), &self.about) as usize];
        collected[..4].fill(0);
        buffers.insert(Resource::Collected, gpu.buffer(&collected));
        let most = self.layout().words_max(&self.about) as usize;
        buffers.insert(Resource::Sent, gpu.buffer(&vec![UNTOUCHED; BEGIN + most + 64]));
        gpu.run(&compose(&self.declared, KernelName::Collect, &self.options), &buffers, grids[0]);
        gpu.run(&compose(&self.declared, KernelName::Ship, &self.options), &buffers, grids[1]);
        let words = gpu.read(&buffers[&Resource::Sent]);
        assert!(words[..BEGIN].iter().all(|&word| word == UNTOUCHED), "words before the message");
        words[BEGIN..].to_vec()
    }
}

/// Whether a message with this many vertices is sparse, and its number of words, computed by hand.
fn form(layout: &MessageLayout, about: &Range<u64>, count: usize) -> (bool, usize) {
    let (vertices, flags) = ((about.end - about.start) as usize, usize::from(!layout.bits.is_empty()));
    let sparse = 4 + count * (1 + flags + layout.values.len());
    let dense =
        4 + vertices.div_ceil(32) * (1 + layout.bits.len()) + vertices.div_ceil(8192) + count * layout.values.len();
    if count == 0 { (true, 4) } else { (sparse <= dense, sparse.min(dense)) }
}

/// Reads a message word by word.
fn read(layout: &MessageLayout, about: &Range<u64>, words: &[u32]) -> (Changes, Vec<Vec<u32>>) {
    let count = words[0] as usize;
    let (mut changes, mut sets) = (Changes::new(), Vec::new());
    let (sparse, _) = form(layout, about, count);
    assert_eq!(words[1..4], [u32::from(!sparse), 0, 0], "header");
    if count == 0 {
        return (changes, sets);
    }
    let values = |begin: usize, number: usize| -> Vec<u32> {
        (0..layout.values.len()).map(|which| words[begin + which * count + number]).collect()
    };
    if sparse {
        let begin = 4 + count * (1 + usize::from(!layout.bits.is_empty()));
        for number in 0..count {
            let flag = |which: usize| words[4 + count + number] >> which & 1 != 0;
            let flags = (0..layout.bits.len()).map(flag).collect();
            assert!(changes.insert(words[4 + number], (flags, values(begin, number))).is_none(), "sent twice");
        }
        return (changes, sets);
    }
    let set_words = ((about.end - about.start) as usize).div_ceil(32);
    sets = (1..=layout.bits.len()).map(|which| words[4 + which * set_words..][..set_words].to_vec()).collect();
    let bases = 4 + (1 + layout.bits.len()) * set_words;
    let begin = bases + set_words.div_ceil(256);
    for (block, bits) in words[4..4 + set_words].chunks(256).enumerate() {
        let active = (0..32 * bits.len() as u32).filter(|&at| bit(bits, at));
        for (number, at) in (words[bases + block] as usize..).zip(active) {
            let vertex = about.start as u32 + 8192 * block as u32 + at;
            let flags = sets.iter().map(|set| bit(set, vertex - about.start as u32)).collect();
            changes.insert(vertex, (flags, values(begin, number)));
        }
    }
    (changes, sets)
}

/// Writes a message word by word; blocks of dense messages are in descending order.
fn write(layout: &MessageLayout, about: &Range<u64>, changes: &Changes, sets: &[Vec<u32>], sparse: bool) -> Vec<u32> {
    let mut words = vec![changes.len() as u32, u32::from(!sparse), 0, 0];
    let mut order: Vec<u32> = changes.keys().copied().collect();
    if sparse {
        order.reverse();
        words.extend(&order);
        let flags =
            |vertex: &u32| (0..).zip(&changes[vertex].0).map(|(which, &is)| u32::from(is) << which).sum::<u32>();
        words.extend(order.iter().filter(|_| !layout.bits.is_empty()).map(flags));
    } else {
        let first = about.start as u32;
        let mut active = vec![0; ((about.end - about.start) as usize).div_ceil(32)];
        order.iter().for_each(|vertex| active[(vertex - first) as usize / 32] |= 1 << (vertex % 32));
        words.extend(&active);
        sets.iter().for_each(|set| words.extend(&set[first as usize / 32..][..active.len()]));
        order.sort_by_key(|&vertex| (std::cmp::Reverse(vertex / 8192), vertex));
        let block_of = |vertex: u32| (vertex - first) / 8192;
        let behind = |block: u32| order.iter().filter(|&&vertex| block_of(vertex) > block).count() as u32;
        words.extend((0..active.len().div_ceil(256) as u32).map(behind));
    }
    for which in 0..layout.values.len() {
        words.extend(order.iter().map(|vertex| changes[vertex].1[which]));
    }
    words
}

/// Parts and ranges of messages: aligned and unaligned, in one chunk of attributes and in several.
fn cases(gpu: &Gpu) -> Vec<Case> {
    let all = u64::from(VERTICES);
    let part = |own: Range<u64>, sharded| Part { vertices: all, own, sharded };
    let of = |types: &[AttributeType]| attributes().into_iter().filter(|one| types.contains(&one.of)).collect();
    let whole = |attributes, about| Case::new(gpu, attributes, part(0..all, false), about, 20);
    vec![
        Case::new(gpu, attributes(), part(0..all, false), 0..all, 20),
        Case::new(gpu, attributes(), part(9_000..33_333, false), 8_192..33_333, 15),
        Case::new(gpu, attributes(), part(0..all, false), 40_960..all, 15),
        Case::new(gpu, attributes(), part(9_000..33_333, true), 8_192..33_333, 20),
        Case::new(gpu, attributes(), part(24_650..all, true), 24_576..all, 14),
        Case::new(gpu, attributes(), part(16_384..16_385, true), 16_384..16_385, 20),
        whole(of(&[AttributeType::U32]), 8_192..24_576),
        whole(wide(), 0..24_576),
        Case::new(gpu, wide(), part(9_000..33_333, true), 8_192..33_333, 15),
        whole(of(&[AttributeType::Bit]), 0..all),
        whole(Vec::new(), 0..30_000),
        whole(followers(), 0..all),
        Case::new(gpu, followers(), part(9_000..33_333, true), 8_192..33_333, 20),
    ]
}

#[test]
fn activated_vertices_are_sent() {
    let Some(gpu) = gpu() else { return };
    let mut forms = [0, 0];
    for (number, mut case) in cases(gpu).into_iter().enumerate() {
        for every in [0, 9_000, 100, 30, 3, 1] {
            case.activate(every, &(0..VERTICES.into()));
            let groups = message_groups(&case.about);
            let grids = if every == 3 { [[1, 1], [3, 2]] } else { [[groups, 1], [groups, 1]] };
            let (layout, what) = (case.layout(), format!("case {number}, one of {every}"));
            let words = case.sent(gpu, grids);
            let (found, sets) = read(&layout, &case.about, &words);
            let expected = case.changes();
            assert_eq!(found.len(), expected.len(), "{what}");
            assert!(found == expected, "{what}");
            let (sparse, count) = form(&layout, &case.about, expected.len());
            forms[usize::from(sparse)] += usize::from(!expected.is_empty());
            assert!(words[count..].iter().all(|&word| word == UNTOUCHED), "words behind the message, {what}");
            for (set, &place) in sets.iter().zip(&layout.bits) {
                for vertex in case.about.start as u32..case.about.end as u32 {
                    let held = !case.part.sharded || case.part.owns(vertex);
                    let expected = held && bit(&case.columns[place], vertex);
                    assert_eq!(bit(set, vertex - case.about.start as u32), expected, "{place} of {vertex}, {what}");
                }
            }
        }
    }
    assert!(forms.iter().all(|&count| count > 10), "dense and sparse messages: {forms:?}");
}

/// The expected words of a value after a message.
fn met(attribute: &Attribute, old: &[u32], change: &[u32]) -> Vec<u32> {
    if let (&[old], &[change]) = (old, change) {
        return vec![met_word(attribute, old, change)];
    }
    let number = |words: &[u32]| u64::from(words[1]) << 32 | u64::from(words[0]);
    let (old, change) = (number(old), number(change));
    let met = if attribute.merge == Merge::Min { old.min(change) } else { old.max(change) };
    vec![met as u32, (met >> 32) as u32]
}

fn met_word(attribute: &Attribute, old: u32, change: u32) -> u32 {
    let (a, b) = (f32::from_bits(old), f32::from_bits(change));
    match (attribute.of, attribute.merge) {
        (AttributeType::F32, Merge::Min) => {
            if a < b {
                old
            } else {
                change
            }
        }
        (AttributeType::F32, Merge::Max) => {
            if a > b {
                old
            } else {
                change
            }
        }
        (AttributeType::F32, Merge::Add) => (a + b).to_bits(),
        (_, Merge::Min) => old.min(change),
        (_, Merge::Max) => old.max(change),
        (_, Merge::Add) => old.wrapping_add(change),
        (_, Merge::Or | Merge::Activation) => old | change,
    }
}

/// Another device's message for the same range, with one of `every` vertices activated: its contents, and its sets.
fn of_another(gpu: &Gpu, case: &Case, every: u32) -> (Changes, Vec<Vec<u32>>) {
    let part = Part { own: case.about.clone(), ..case.part.clone() };
    let mut other = Case::new(gpu, case.declared.attributes.clone(), part, case.about.clone(), 19);
    other.activate(every, &case.about);
    let sets = other.layout().bits.iter().map(|&place| other.columns[place].clone()).collect();
    (other.changes(), sets)
}

/// Applies a message, and compares the complete state afterwards with the expected one.
fn takes_in(gpu: &Gpu, case: &Case, changes: &Changes, sets: &[Vec<u32>], sparse: bool, what: &str) {
    let layout = case.layout();
    let mut words = vec![UNTOUCHED; BEGIN];
    words.extend(write(&layout, &case.about, changes, sets, sparse));
    words.extend([UNTOUCHED; 8]);
    let mut buffers = case.buffers(gpu);
    buffers.insert(Resource::Received, gpu.buffer(&words));
    let grid = if sparse { [message_groups(&case.about), 1] } else { [2, 1] };
    gpu.run(&compose(&case.declared, KernelName::Apply, &case.options), &buffers, grid);

    let mut next = case.next.clone();
    changes.keys().for_each(|&vertex| next[vertex as usize / 32] |= 1 << (vertex % 32));
    assert!(case.get(gpu, &buffers, next.len(), Resource::NextFrontier) == next, "next frontier, {what}");
    for (place, attribute) in case.declared.attributes.iter().enumerate() {
        let has_seen = case.part.has_seen(attribute.role);
        let before = case.columns[place].clone();
        let mut after = if has_seen { vec![0; before.len()] } else { before.clone() };
        for (&vertex, (flags, values)) in changes {
            if let Some(which) = layout.values.iter().position(|&one| one == place) {
                let words = case.word(place, vertex, 0)..case.word(place, vertex + 1, 0);
                let (change, value) = (&values[which..which + words.len()], &mut after[words]);
                value.copy_from_slice(&if has_seen { change.to_vec() } else { met(attribute, value, change) });
            } else if let Some(which) = layout.bits.iter().position(|&one| one == place) {
                after[vertex as usize / 32] |= u32::from(flags[which]) << (vertex % 32);
            } else if attribute.merge == Merge::Activation && (attribute.role == Role::Writable || !case.part.sharded) {
                after[vertex as usize / 32] |= 1 << (vertex % 32);
            }
        }
        if let (false, Some(which)) = (sparse || changes.is_empty(), layout.bits.iter().position(|&one| one == place)) {
            let words = case.about.start as usize / 32..case.about.end.div_ceil(32) as usize;
            words.for_each(|at| after[at] |= sets[which][at]);
        }
        if has_seen {
            let found = case.get(gpu, &buffers, after.len(), |chunk| Resource::Seen { place, chunk });
            assert!(found == after, "changes to {}, {what}", attribute.name);
        }
        let held = if has_seen { &before[case.held(place)] } else { &after[case.held(place)] };
        let found = case.get(gpu, &buffers, held.len(), |chunk| Resource::Attribute { place, chunk });
        assert!(found == held, "{}, {what}", attribute.name);
    }
}

#[test]
fn messages_are_applied() {
    let Some(gpu) = gpu() else { return };
    for (number, mut case) in cases(gpu).into_iter().enumerate() {
        case.activate(50, &(0..VERTICES.into()));
        for every in [0, 2_000, 30, 2, 1] {
            let (changes, sets) = of_another(gpu, &case, every);
            for sparse in [false, true] {
                takes_in(
                    gpu,
                    &case,
                    &changes,
                    &sets,
                    sparse,
                    &format!("case {number}, one of {every}, sparse {sparse}"),
                );
            }
        }
    }
}
