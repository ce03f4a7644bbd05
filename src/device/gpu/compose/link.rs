//! Finds the declarations that an entry point reaches, and puts them into a module.

use super::accessors::{Accessors, Used};
use super::bindings::{self, Buffer, Resource};
use super::module::Origin;
use super::text::{Decided, Declaration, declarations};
use super::{Declared, KernelName, Module, ModuleOptions, messages, prelude};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// shaders/lib.
const LIBRARY: [(&str, &str); 24] = [
    ("shaders/lib/layout.wgsl", include_str!("../../../../shaders/lib/layout.wgsl")),
    ("shaders/lib/list.wgsl", include_str!("../../../../shaders/lib/list.wgsl")),
    ("shaders/lib/step.wgsl", include_str!("../../../../shaders/lib/step.wgsl")),
    ("shaders/lib/units.wgsl", include_str!("../../../../shaders/lib/units.wgsl")),
    ("shaders/lib/u64.wgsl", include_str!("../../../../shaders/lib/u64.wgsl")),
    ("shaders/lib/f64.wgsl", include_str!("../../../../shaders/lib/f64.wgsl")),
    ("shaders/lib/fixed.wgsl", include_str!("../../../../shaders/lib/fixed.wgsl")),
    ("shaders/lib/weights.wgsl", include_str!("../../../../shaders/lib/weights.wgsl")),
    ("shaders/lib/hash.wgsl", include_str!("../../../../shaders/lib/hash.wgsl")),
    ("shaders/lib/page.wgsl", include_str!("../../../../shaders/lib/page.wgsl")),
    ("shaders/lib/packed.wgsl", include_str!("../../../../shaders/lib/packed.wgsl")),
    ("shaders/lib/unpack.wgsl", include_str!("../../../../shaders/lib/unpack.wgsl")),
    ("shaders/lib/unpack_segment.wgsl", include_str!("../../../../shaders/lib/unpack_segment.wgsl")),
    ("shaders/lib/take.wgsl", include_str!("../../../../shaders/lib/take.wgsl")),
    ("shaders/lib/loops.wgsl", include_str!("../../../../shaders/lib/loops.wgsl")),
    ("shaders/lib/count.wgsl", include_str!("../../../../shaders/lib/count.wgsl")),
    ("shaders/lib/sum.wgsl", include_str!("../../../../shaders/lib/sum.wgsl")),
    ("shaders/lib/plurality.wgsl", include_str!("../../../../shaders/lib/plurality.wgsl")),
    ("shaders/lib/own.wgsl", include_str!("../../../../shaders/lib/own.wgsl")),
    ("shaders/lib/border.wgsl", include_str!("../../../../shaders/lib/border.wgsl")),
    ("shaders/lib/listed.wgsl", include_str!("../../../../shaders/lib/listed.wgsl")),
    ("shaders/lib/sets.wgsl", include_str!("../../../../shaders/lib/sets.wgsl")),
    ("shaders/lib/ranks.wgsl", include_str!("../../../../shaders/lib/ranks.wgsl")),
    ("shaders/lib/message.wgsl", include_str!("../../../../shaders/lib/message.wgsl")),
];

/// shaders/kernels.
fn kernel_file(kernel: KernelName) -> (&'static str, &'static str) {
    match kernel {
        KernelName::Lists => ("shaders/kernels/lists.wgsl", include_str!("../../../../shaders/kernels/lists.wgsl")),
        KernelName::Segments => {
            ("shaders/kernels/segments.wgsl", include_str!("../../../../shaders/kernels/segments.wgsl"))
        }
        KernelName::InflateSlots => {
            ("shaders/kernels/inflate_slots.wgsl", include_str!("../../../../shaders/kernels/inflate_slots.wgsl"))
        }
        KernelName::Inflate => {
            ("shaders/kernels/inflate.wgsl", include_str!("../../../../shaders/kernels/inflate.wgsl"))
        }
        KernelName::Hubs => ("shaders/kernels/hubs.wgsl", include_str!("../../../../shaders/kernels/hubs.wgsl")),
        KernelName::Bin => ("shaders/kernels/bin.wgsl", include_str!("../../../../shaders/kernels/bin.wgsl")),
        KernelName::Binned => ("shaders/kernels/binned.wgsl", include_str!("../../../../shaders/kernels/binned.wgsl")),
        KernelName::Plurality => {
            ("shaders/kernels/plurality.wgsl", include_str!("../../../../shaders/kernels/plurality.wgsl"))
        }
        KernelName::Select => ("shaders/kernels/select.wgsl", include_str!("../../../../shaders/kernels/select.wgsl")),
        KernelName::Sweep => ("shaders/kernels/sweep.wgsl", include_str!("../../../../shaders/kernels/sweep.wgsl")),
        KernelName::Compact => {
            ("shaders/kernels/compact.wgsl", include_str!("../../../../shaders/kernels/compact.wgsl"))
        }
        KernelName::Absent => ("shaders/kernels/absent.wgsl", include_str!("../../../../shaders/kernels/absent.wgsl")),
        KernelName::Halt => ("shaders/kernels/halt.wgsl", include_str!("../../../../shaders/kernels/halt.wgsl")),
        KernelName::Expand => ("shaders/kernels/expand.wgsl", include_str!("../../../../shaders/kernels/expand.wgsl")),
        KernelName::ExpandActive => {
            ("shaders/kernels/expand_active.wgsl", include_str!("../../../../shaders/kernels/expand_active.wgsl"))
        }
        KernelName::Decide => ("shaders/kernels/decide.wgsl", include_str!("../../../../shaders/kernels/decide.wgsl")),
        KernelName::Initialise => {
            ("shaders/kernels/initialise.wgsl", include_str!("../../../../shaders/kernels/initialise.wgsl"))
        }
        KernelName::VertexPhase => {
            ("shaders/kernels/vertex_phase.wgsl", include_str!("../../../../shaders/kernels/vertex_phase.wgsl"))
        }
        KernelName::Census => ("shaders/kernels/census.wgsl", include_str!("../../../../shaders/kernels/census.wgsl")),
        KernelName::NextPages | KernelName::Defer => {
            ("shaders/kernels/pages.wgsl", include_str!("../../../../shaders/kernels/pages.wgsl"))
        }
        KernelName::Fill => ("shaders/kernels/fill.wgsl", include_str!("../../../../shaders/kernels/fill.wgsl")),
        KernelName::Merge => ("shaders/kernels/merge.wgsl", include_str!("../../../../shaders/kernels/merge.wgsl")),
        KernelName::Pack => ("shaders/kernels/pack.wgsl", include_str!("../../../../shaders/kernels/pack.wgsl")),
        KernelName::Unpack => ("shaders/kernels/unpack.wgsl", include_str!("../../../../shaders/kernels/unpack.wgsl")),
        KernelName::Collect => {
            ("shaders/kernels/collect.wgsl", include_str!("../../../../shaders/kernels/collect.wgsl"))
        }
        KernelName::Ship => ("shaders/kernels/ship.wgsl", include_str!("../../../../shaders/kernels/ship.wgsl")),
        KernelName::Apply => ("shaders/kernels/apply.wgsl", include_str!("../../../../shaders/kernels/apply.wgsl")),
    }
}

/// The library files that algorithms can use; the others are for kernels only, so that algorithms can reuse the names
/// of their declarations.
const FOR_ALGORITHMS: [&str; 9] = [
    prelude::FILE,
    "shaders/lib/layout.wgsl",
    "shaders/lib/list.wgsl",
    "shaders/lib/step.wgsl",
    "shaders/lib/u64.wgsl",
    "shaders/lib/f64.wgsl",
    "shaders/lib/fixed.wgsl",
    "shaders/lib/weights.wgsl",
    "shaders/lib/hash.wgsl",
];

/// A file, split into declarations.
struct Source {
    file: &'static str,
    declarations: Vec<Declaration>,
    is_algorithm: bool,
}

/// The library and the kernels in pieces: they are the same for every module.
static PIECES: LazyLock<HashMap<&str, Source>> = LazyLock::new(|| {
    let files = LIBRARY.into_iter().chain(KernelName::ALL.map(kernel_file));
    files.map(|(file, text)| (file, Source::new(file, text))).collect()
});

impl Source {
    fn new(file: &'static str, text: &str) -> Self {
        Self { file, declarations: declarations(text), is_algorithm: false }
    }

    /// Whether its declarations are visible to an algorithm, or to another file.
    fn is_seen_by(&self, algorithm: bool) -> bool {
        !algorithm || self.is_algorithm || FOR_ALGORITHMS.contains(&self.file)
    }
}

/// The declarations reached so far.
struct Reached<'a> {
    sources: &'a [&'a Source],
    /// Constants that decide an `if`.
    switches: &'a HashMap<String, bool>,
    /// The declarations of each name.
    places: HashMap<&'a str, Vec<(usize, usize)>>,
    accessors: &'a Accessors<'a>,
    kernel: KernelName,
    declarations: BTreeMap<(usize, usize), Decided>,
    used: Used,
    buffers: Vec<Buffer>,
    /// Names, each with whether an algorithm uses it.
    seen: HashSet<(String, bool)>,
}

impl<'a> Reached<'a> {
    fn new(
        sources: &'a [&'a Source],
        switches: &'a HashMap<String, bool>,
        accessors: &'a Accessors<'a>,
        kernel: KernelName,
    ) -> Self {
        let mut places: HashMap<&str, Vec<_>> = HashMap::new();
        for (number, source) in sources.iter().enumerate() {
            for (at, declaration) in source.declarations.iter().enumerate() {
                places.entry(&declaration.name).or_default().push((number, at));
            }
        }
        let (declarations, used, buffers, seen) = Default::default();
        Self { sources, switches, places, accessors, kernel, declarations, used, buffers, seen }
    }

    /// Adds a name that a kernel uses, and everything that it reaches.
    fn take(&mut self, name: &str) {
        let mut waiting = vec![(name.to_owned(), false)];
        while let Some((name, by_algorithm)) = waiting.pop() {
            if !self.seen.insert((name.clone(), by_algorithm)) {
                continue;
            }
            let places = self.places.get(name.as_str()).into_iter().flatten();
            let mut places = places.filter(|(source, _)| self.sources[*source].is_seen_by(by_algorithm)).peekable();
            if places.peek().is_some() {
                for &(source, at) in places {
                    let Source { declarations, is_algorithm, .. } = self.sources[source];
                    let decided = || declarations[at].decided(self.switches);
                    let Decided { words, .. } = self.declarations.entry((source, at)).or_insert_with(decided);
                    waiting.extend(words.iter().map(|word| (word.clone(), *is_algorithm)));
                }
            } else if let Some(accessor) = self.accessors.find(&name) {
                self.used.insert(accessor);
                waiting.extend(self.accessors.calls(accessor).into_iter().map(|name| (name, false)));
            } else if let Some(buffer) = Buffer::named(&name, self.kernel)
                && (!by_algorithm || buffer.resource == Resource::Step)
            {
                let words = buffer.of.split(|char: char| !char.is_alphanumeric());
                waiting.extend(words.map(|word| (word.to_owned(), false)));
                if self.buffers.iter().all(|other| other.resource != buffer.resource) {
                    self.buffers.push(buffer);
                }
            }
        }
    }
}

/// The text of a module and the origin of its lines.
#[derive(Default)]
pub(super) struct Output {
    pub(super) text: String,
    lines: u32,
    pub(super) origins: Vec<Origin>,
}

impl Output {
    /// Appends text from a line of a file, after an empty line.
    pub(super) fn push(&mut self, file: &'static str, line: u32, text: &str) {
        if self.lines > 0 {
            self.text.push('\n');
            self.lines += 1;
        }
        self.origins.push(Origin { first_line: self.lines + 1, file, line });
        for line in text.lines() {
            self.text += line.trim_end();
            self.text.push('\n');
            self.lines += 1;
        }
    }
}

pub(super) fn link(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> Module {
    let switches = prelude::switches(algorithm, kernel, options);
    let own = Source { is_algorithm: true, ..Source::new(algorithm.shader.file, algorithm.shader.text) };
    let mut generated = prelude::text(algorithm, kernel, options, &switches);
    if !own.declarations.iter().any(|one| one.name == "list_gather") {
        generated += prelude::LIST_GATHER;
    }
    let generated = Source::new(prelude::FILE, &generated);
    let mut sources = vec![&generated];
    sources.extend(LIBRARY.map(|(file, _)| &PIECES[file]));
    if !kernel.hooks().is_empty() {
        sources.push(&own);
    }
    sources.push(&PIECES[kernel_file(kernel).0]);
    let accessors = Accessors::new(algorithm, kernel, options);
    let mut reached = Reached::new(&sources, &switches, &accessors, kernel);
    reached.take("main");
    if kernel.has_hooks() {
        // Text without a name: assertions, and syntax errors.
        reached.take("");
    }
    accessors.types(&reached.used).into_iter().for_each(|name| reached.take(name));
    let has = |hook: &str| sources.iter().flat_map(|source| &source.declarations).any(|one| one.name == hook);

    let label = format!("{} {kernel}", algorithm.name);
    let missing =
        kernel.hooks().iter().find(|hook| !has(hook)).map(|hook| format!("`{hook}` is missing, which {label} needs"));
    let silent = messages::refused(algorithm).filter(|_| kernel.is_of_messages()).map(|why| format!("{label}: {why}"));
    let halves = accessors.compares_halves(&reached.used).then(|| format!("{label}: {}", super::NO_WIDE_ATOMICS));
    let refused = missing.or(silent).or(halves).map(|message| (message, algorithm.shader.file));

    let Reached { declarations, used, mut buffers, .. } = reached;
    buffers.extend(accessors.buffers(&used));
    let (bindings, bound) = bindings::number(buffers);
    let mut output = Output::default();
    output.push(prelude::FILE, 1, &bound);
    let mut file = prelude::FILE;
    for ((source, at), Decided { text, .. }) in declarations {
        let Source { file: from, declarations, .. } = sources[source];
        if *from != file {
            file = from;
            output.push(prelude::FILE, 1, &format!("// {file}"));
        }
        output.push(file, declarations[at].line, &text);
    }
    output.push(prelude::FILE, 1, &format!("// Accessors.\n{}", accessors.render(&used)));
    let Output { text, origins, .. } = output;
    let &ModuleOptions { float_atomics, wide_integers, subgroups, sharded, .. } = options;
    Module { label, text, bindings, float_atomics, wide_integers, subgroups, origins, sharded, refused }
}
