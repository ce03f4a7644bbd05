//! The arguments of commands, as oracles read them: words such as `--source max-degree --iterations 10`.

use crate::Graph;

/// Options with their values.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    options: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Arguments<'a> {
    /// Splits a line.
    ///
    /// # Panics
    /// Where a value stands without an option.
    pub fn of(line: &'a str) -> Self {
        let mut options: Vec<(&str, Option<&str>)> = Vec::new();
        for word in line.split_whitespace() {
            match (word.strip_prefix("--"), options.last_mut()) {
                (Some(name), _) => options.push((name, None)),
                (None, Some((_, value @ None))) => *value = Some(word),
                _ => panic!("{word:?} in {line:?} belongs to no option"),
            }
        }
        Self { options }
    }

    /// Whether an option is there.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(of, _)| *of == name)
    }

    /// The values of an option, in order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.options.iter().filter(move |(of, _)| *of == name).filter_map(|(_, value)| *value)
    }

    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// The number that an option has.
    ///
    /// # Panics
    /// Where it is not a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        let read = |text: &str| text.parse().unwrap_or_else(|_| panic!("--{name} {text}: no such number"));
        self.get(name).map(read)
    }

    /// The vertices that an option names: numbers, or `max-degree`.
    pub fn vertices(&self, name: &str, graph: &Graph) -> Vec<u32> {
        let mut vertices: Vec<u32> = self.all(name).map(|text| vertex(text, graph)).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// The vertices of `ID=VALUE`, each with its value; 1 if there is none.
    pub fn held(&self, name: &str, graph: &Graph) -> Vec<(u32, f32)> {
        let held = |text: &str| match text.split_once('=') {
            Some((id, value)) => (vertex(id, graph), value.parse().expect("a number behind =")),
            None => (vertex(text, graph), 1.0),
        };
        self.all(name).map(held).collect()
    }
}

fn vertex(text: &str, graph: &Graph) -> u32 {
    if text == "max-degree" { graph.hub() } else { text.parse().expect("a vertex, or max-degree") }
}
