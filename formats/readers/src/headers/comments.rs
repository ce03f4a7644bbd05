//! The comments before the first row.

/// What comments say about the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comments {
    /// The line that says it; empty without a header.
    pub says: String,
    /// Whether the graph is undirected, if the header states it.
    pub undirected: Option<bool>,
    /// The numbers of vertices on the left and on the right, where they are of different kinds.
    pub apart: Option<[u64; 2]>,
    /// Whether there are weights, if the header states it.
    pub weights: Option<bool>,
    /// The number of edges.
    pub edges: Option<u64>,
    /// A remark on comments that are not understood.
    pub hint: Option<String>,
    form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    None,
    Konect {
        bipartite: bool,
    },
    Snap,
}

/// KONECT's types of weights, and whether rows have a weight.
const WEIGHTS: [(&str, bool); 9] = [
    ("unweighted", false),
    ("positive", true),
    ("posweighted", true),
    ("signed", true),
    ("multisigned", true),
    ("weighted", true),
    ("multiweighted", true),
    ("multiposweighted", true),
    ("dynamic", true),
];

impl Comments {
    /// Reads the comments at the beginning of `lines`.
    pub fn of(lines: &[u8]) -> Self {
        let mut comments = Self::default();
        let lines = lines.strip_prefix(b"\xef\xbb\xbf").unwrap_or(lines);
        let lines = lines.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        for line in lines.take_while(|line| matches!(line[0], b'#' | b'%')) {
            let text = String::from_utf8_lossy(&line[..line.len().min(1 << 10)]).into_owned();
            let words: Vec<String> =
                text.trim_start_matches(['#', '%']).split_whitespace().map(str::to_lowercase).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            comments.take(&text, line[0] == b'%', &words);
        }
        if comments.form == (Form::Konect { bipartite: true }) && comments.apart.is_none() {
            comments.edges = None;
        }
        comments
    }

    fn take(&mut self, text: &str, is_percent: bool, words: &[&str]) {
        match (self.form, words) {
            (Form::None, ["bip" | "sym" | "asym", rest @ ..]) if is_percent => self.take_konect(text, words[0], rest),
            (Form::Konect { bipartite }, [_, _] | [_, _, _]) if is_percent && self.edges.is_none() => {
                let numbers: Vec<u64> = words.iter().map_while(|word| word.parse().ok()).collect();
                self.edges = numbers.first().copied().filter(|_| numbers.len() == words.len());
                self.apart = match numbers[..] {
                    [_, left, right] if bipartite && left.checked_add(right).is_some() => Some([left, right]),
                    _ => None,
                };
            }
            (Form::None, ["undirected" | "directed", graph, ..]) if !is_percent && graph.starts_with("graph") => {
                self.form = Form::Snap;
                self.says = shortened(text);
                self.undirected = Some(words[0] == "undirected");
                self.hint = None;
            }
            (Form::Snap, ["nodes:", _, "edges:", edges, ..]) => self.edges = edges.replace(',', "").parse().ok(),
            (Form::None, _)
                if words.iter().any(|word| word.trim_matches(|at: char| !at.is_alphabetic()) == "undirected") =>
            {
                self.hint = Some(format!(
                    "read as directed although a comment says `{}`: pass --symmetrize if each edge is listed once",
                    shortened(text)
                ));
            }
            _ => {}
        }
    }

    fn take_konect(&mut self, text: &str, form: &str, rest: &[&str]) {
        let weights = match rest {
            [] => None,
            [name] => match WEIGHTS.iter().find(|(known, _)| known == name) {
                Some(&(_, weights)) => Some(weights),
                None => return,
            },
            _ => return,
        };
        self.form = Form::Konect { bipartite: form == "bip" };
        self.says = shortened(text);
        self.undirected = Some(form == "sym");
        self.weights = weights;
        self.hint = None;
    }

    /// Whether no header is recognised.
    pub fn is_silent(&self) -> bool {
        self.form == Form::None
    }

    /// Whether the columns are KONECT's.
    pub fn is_konect(&self) -> bool {
        matches!(self.form, Form::Konect { .. })
    }

    /// Whether the two columns have ids of different things.
    pub fn is_bipartite(&self) -> bool {
        matches!(self.form, Form::Konect { bipartite: true })
    }

    /// Whether rows add and remove edges.
    pub fn is_dynamic(&self) -> bool {
        self.is_konect() && self.says.ends_with("dynamic")
    }
}

fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let text = text.trim();
    let mut short: String = text.chars().take(CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn konect() {
        let comments = Comments::of(b"% bip unweighted\n% 1476 829 551\n1 2\n% sym\n");
        assert!(comments.is_konect() && comments.is_bipartite());
        assert_eq!((comments.undirected, comments.weights), (Some(false), Some(false)));
        assert_eq!((comments.edges, comments.apart), (Some(1476), Some([829, 551])));
        let comments = Comments::of(b"% sym signed \n% a remark\n% 58 16 16\n");
        assert_eq!((comments.undirected, comments.edges, comments.apart), (Some(true), Some(58), None));
        let comments = Comments::of(b"% asym\n1 2\n% 5 5 5\n");
        assert_eq!((comments.undirected, comments.weights, comments.edges), (Some(false), None, None));
        for none in ["% sym of the crystal\n", "# sym unweighted\n", "% symmetric\n", "1 2\n% sym\n", "%\n"] {
            assert!(Comments::of(none.as_bytes()).is_silent(), "{none}");
        }
        assert!(Comments::of(b"% sym dynamic\n").is_dynamic() && !Comments::of(b"% sym weighted\n").is_dynamic());
    }

    #[test]
    fn snap() {
        let comments =
            Comments::of(b"# Undirected graph: a.txt\n# Ring\n# Nodes: 6 Edges: 7\n# FromNodeId\tToNodeId\n");
        assert_eq!((comments.undirected, comments.edges), (Some(true), Some(7)));
        let comments = Comments::of(b"\xef\xbb\xbf# Directed graph (each unordered pair of nodes is saved once): a\n");
        assert_eq!((comments.undirected, comments.edges, comments.hint), (Some(false), None, None));
        let comments = Comments::of(b"# my network, undirected.\n1 2\n");
        assert!(comments.is_silent() && comments.hint.unwrap().contains("--symmetrize"));
        assert_eq!(Comments::of(b"# a comment\n"), Comments::default());
    }
}
