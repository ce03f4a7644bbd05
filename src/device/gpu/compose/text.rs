//! As much of WGSL's grammar as linking needs: words, blocks, and the extent of declarations.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// A word, a number or a punctuation mark, by its position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    start: usize,
    end: usize,
    is_word: bool,
}

impl Token {
    fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// The end of the comment that begins at `at`; block comments nest.
fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at..].starts_with(b"//") {
        return Some(bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length));
    }
    if !bytes[at..].starts_with(b"/*") {
        return None;
    }
    let (mut depth, mut end) = (1, at + 2);
    while depth > 0 && end < bytes.len() {
        let (step, change) = match &bytes[end..] {
            rest if rest.starts_with(b"/*") => (2, 1),
            rest if rest.starts_with(b"*/") => (2, -1),
            _ => (1, 0),
        };
        (end, depth) = (end + step, depth + change);
    }
    Some(end.min(bytes.len()))
}

fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = comment_end(bytes, at) {
            at = end;
            continue;
        }
        let (start, first) = (at, bytes[at]);
        at += 1;
        if in_word(first) {
            let is_number = first.is_ascii_digit();
            while at < bytes.len() && (in_word(bytes[at]) || is_number && bytes[at] == b'.') {
                at += 1;
            }
            tokens.push(Token { start, end: at, is_word: !is_number });
        } else if !first.is_ascii_whitespace() {
            tokens.push(Token { start, end: at, is_word: false });
        }
    }
    tokens
}

/// The index of the bracket that closes the one at `open`; the last index if there is none.
fn closing(text: &str, tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.of(text) {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

/// An `if` on a known constant: indices of its tokens.
struct StaticIf {
    holds: bool,
    open: usize,
    close: usize,
}

/// Matches `if NAME {` or `if !NAME {` at an index.
fn static_if(text: &str, tokens: &[Token], at: usize, known: &HashMap<String, bool>) -> Option<StaticIf> {
    let word = |at: usize| tokens.get(at).map(|token: &Token| token.of(text));
    if word(at) != Some("if") {
        return None;
    }
    let negated = word(at + 1) == Some("!");
    let name = at + 1 + usize::from(negated);
    let value = *known.get(word(name)?)?;
    let open = name + 1;
    (word(open) == Some("{")).then(|| StaticIf { holds: value != negated, open, close: closing(text, tokens, open) })
}

/// The end of the chain of `else if` and `else` that begins at `at`.
fn chain_end(text: &str, tokens: &[Token], at: usize) -> usize {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token: &Token| token.of(text) == word);
    let open = (at..tokens.len()).find(|&at| is(at, "{")).unwrap_or(tokens.len() - 1);
    let close = closing(text, tokens, open);
    if is(close + 1, "else") { chain_end(text, tokens, close + 1) } else { close }
}

/// The parts to blank for every `if` on a known constant: the `if` itself, and the branch that is not taken.
fn decided_out(text: &str, tokens: &[Token], known: &HashMap<String, bool>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for at in 0..tokens.len() {
        let Some(StaticIf { holds, open, close }) = static_if(text, tokens, at, known) else { continue };
        let follows = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.of(text) == word);
        let preceded = at > 0 && follows(at - 1, "else");
        let otherwise = follows(close + 1, "else");
        if holds {
            out.push(tokens[at].start..tokens[open].start);
            if otherwise {
                let end = chain_end(text, tokens, close + 1);
                out.push(tokens[close + 1].start..tokens[end].end);
            }
        } else {
            let last = if otherwise { close + 1 } else { close };
            out.push(tokens[at].start..tokens[last].end);
            if preceded && !otherwise {
                out.push(tokens[at - 1].start..tokens[at - 1].end);
            }
        }
    }
    out
}

/// A declaration at the top level of a file.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The declared name; empty if there is none.
    pub name: String,
    /// The line where its text begins, from 1.
    pub line: u32,
    /// Its text with the comment above it.
    text: String,
    /// Its tokens, by their places in that text.
    tokens: Vec<Token>,
}

/// A declaration for known constants.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Its text with the comment above it.
    pub text: String,
    /// The non-local names in it: other declarations, accessors, buffers, and WGSL built-ins.
    pub words: BTreeSet<String>,
}

impl Declaration {
    /// Evaluates every `if` on a known constant: blanks the other branch, so that it may use undeclared names. Lines
    /// keep their numbers.
    pub fn decided(&self, known: &HashMap<String, bool>) -> Decided {
        let out = decided_out(&self.text, &self.tokens, known);
        if out.is_empty() {
            return Decided { text: self.text.clone(), words: Names::of(&self.text, &self.tokens) };
        }
        let mut bytes = self.text.as_bytes().to_vec();
        for range in &out {
            bytes[range.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        let text = String::from_utf8(bytes).expect("whole tokens are blanked");
        let is_left = |token: &&Token| !out.iter().any(|range| range.contains(&token.start));
        let tokens: Vec<Token> = self.tokens.iter().filter(is_left).copied().collect();
        let words = Names::of(&text, &tokens);
        Decided { text, words }
    }
}

/// The last token of the declaration that begins at token `first`.
fn declaration_end(text: &str, tokens: &[Token], first: usize) -> usize {
    let mut depth = 0i32;
    let mut blocks = false;
    for (at, token) in tokens.iter().enumerate().skip(first) {
        match token.of(text) {
            "fn" | "struct" => blocks = true,
            "{" | "(" | "[" => depth += 1,
            "}" if depth == 1 && blocks => return at,
            "}" | ")" | "]" => depth -= 1,
            ";" if depth == 0 => return at,
            _ => {}
        }
    }
    tokens.len() - 1
}

/// The name of a declaration: the word after its keyword, or after `var<…>`.
fn declared_name(text: &str, tokens: &[Token]) -> String {
    let words = ["fn", "struct", "alias", "const", "override", "var"];
    let Some(keyword) = tokens.iter().position(|token| words.contains(&token.of(text))) else { return String::new() };
    let mut at = keyword + 1;
    if tokens.get(at).is_some_and(|token| token.of(text) == "<") {
        at = (at..tokens.len()).find(|&at| tokens[at].of(text) == ">").unwrap_or(at) + 1;
    }
    tokens.get(at).filter(|token| token.is_word).map(|token| token.of(text).to_owned()).unwrap_or_default()
}

/// The start of the text of a declaration, including the comment lines directly above it.
fn comment_start(text: &str, start: usize) -> usize {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut begin = line_start(start);
    if !text[begin..start].trim().is_empty() {
        return start;
    }
    while begin > 0 {
        let above = line_start(begin - 1);
        if !text[above..begin].trim_start().starts_with("//") {
            break;
        }
        begin = above;
    }
    begin
}

/// Finds the non-local names in a declaration: all words except members, attributes, and local names in scope
/// (parameters; `let`, `var` and `const`, from the end of their statement to the end of their block).
struct Names<'a> {
    words: Vec<&'a str>,
    /// Local names, by block; a `for` has an extra block around its body for its own.
    scopes: Vec<Vec<&'a str>>,
    /// For each open block, the number of scopes that end with it.
    blocks: Vec<usize>,
    /// A local name whose statement has not ended.
    pending: Option<&'a str>,
    used: BTreeSet<String>,
}

impl<'a> Names<'a> {
    fn of(text: &'a str, tokens: &[Token]) -> BTreeSet<String> {
        let words: Vec<&str> = tokens.iter().map(|token| token.of(text)).collect();
        let is_struct = words.contains(&"struct");
        // In the head, names followed by a colon are declared.
        let head = if is_struct { words.len() } else { words.iter().position(|word| *word == "{").unwrap_or(0) };
        let mut names =
            Self { words, scopes: vec![Vec::new()], blocks: Vec::new(), pending: None, used: BTreeSet::new() };
        let mut around = 0;
        for (at, token) in tokens.iter().enumerate() {
            match names.words[at] {
                "for" => {
                    names.scopes.push(Vec::new());
                    around = 1;
                }
                "{" => {
                    names.scopes.push(Vec::new());
                    names.blocks.push(1 + std::mem::take(&mut around));
                }
                "}" => {
                    let ended = names.blocks.pop().unwrap_or(0);
                    names.scopes.truncate(names.scopes.len().saturating_sub(ended));
                }
                ";" => names.declare_pending(),
                ":" if at < head && !is_struct => names.scopes[0].push(names.words[at - 1]),
                _ if token.is_word => names.word(at, at < head),
                _ => {}
            }
        }
        names.used
    }

    fn declare_pending(&mut self) {
        let scope = self.scopes.last_mut().filter(|_| !self.blocks.is_empty());
        scope.into_iter().for_each(|scope| scope.extend(self.pending.take()));
    }

    /// Adds a word; in the head, a word followed by a colon is declared.
    fn word(&mut self, at: usize, in_head: bool) {
        let word = self.words[at];
        let before = |back: usize| at.checked_sub(back).map_or("", |at| self.words[at]);
        let is_declared_in_head = in_head && self.words.get(at + 1) == Some(&":");
        // Names of attributes and of built-in values.
        let is_attribute = before(1) == "@" || before(1) == "(" && before(2) == "builtin" && before(3) == "@";
        if before(1) == "." || is_attribute || is_declared_in_head {
            return;
        }
        if self.is_declared(at) {
            self.pending = Some(word);
        } else if !self.scopes.iter().flatten().any(|name| *name == word) {
            self.used.insert(word.to_owned());
        }
    }

    /// Whether the word follows `let`, `const`, `var` or `var<…>`.
    fn is_declared(&self, at: usize) -> bool {
        let keyword = match self.words[..at] {
            [.., keyword, "<", _, ">"] | [.., keyword] => keyword,
            [] => "",
        };
        ["let", "const", "var"].contains(&keyword)
    }
}

/// Splits a file into its declarations.
pub fn declarations(text: &str) -> Vec<Declaration> {
    let tokens = tokens(text);
    let mut declarations = Vec::new();
    let (mut first, mut line, mut counted) = (0, 1, 0);
    while first < tokens.len() {
        let last = declaration_end(text, &tokens, first);
        let own = &tokens[first..=last];
        let begin = comment_start(text, own[0].start);
        line += text[counted..begin].matches('\n').count() as u32;
        counted = begin;
        let moved = |token: &Token| Token { start: token.start - begin, end: token.end - begin, ..*token };
        declarations.push(Declaration {
            name: declared_name(text, own),
            line,
            text: text[begin..own[own.len() - 1].end].to_owned(),
            tokens: own.iter().map(moved).collect(),
        });
        first = last + 1;
    }
    declarations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements of a function, decided.
    fn decided(statements: &str) -> String {
        let known = HashMap::from([("YES".to_owned(), true), ("NO".to_owned(), false)]);
        let function = format!("fn f() {{ {statements}\n}}");
        let Decided { text, words } = declarations(&function).remove(0).decided(&known);
        assert_eq!(words, declarations(&text).remove(0).decided(&HashMap::new()).words);
        let statements = text.trim_start_matches("fn f() {").trim_end_matches('}');
        statements.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_if_on_a_constant_is_decided() {
        assert_eq!(decided("if YES { a(); }"), "{ a(); }");
        assert_eq!(decided("if NO { a(); } b();"), "b();");
        assert_eq!(decided("if !NO { a(); } else { b(); }"), "{ a(); }");
        assert_eq!(decided("if NO { a(); } else { b(); }"), "{ b(); }");
        assert_eq!(decided("if NO { a(); } else if x { b(); } else { c(); }"), "if x { b(); } else { c(); }");
        assert_eq!(decided("if NO { a(); } else if YES { b(); } else { c(); }"), "{ b(); }");
        assert_eq!(decided("if x { a(); } else if YES { b(); } else { c(); }"), "if x { a(); } else { b(); }");
        assert_eq!(decided("if x { a(); } else if NO { b(); } else { c(); }"), "if x { a(); } else { c(); }");
        assert_eq!(decided("if x { a(); } else if NO { b(); } c();"), "if x { a(); } c();");
        assert_eq!(decided("if YES { if NO { a(); } b(); }"), "{ b(); }");
        assert_eq!(decided("if YES && x { a(); } // if NO { }"), "if YES && x { a(); } // if NO { }");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let known = HashMap::from([("NO".to_owned(), false)]);
        let text = "fn a() {\n    if NO {\n        é();\n    }\n    b();\n}\n";
        let decided = declarations(text).remove(0).decided(&known).text;
        assert_eq!(decided.lines().position(|line| line.contains("b()")), Some(4));
    }

    #[test]
    fn declarations_have_names_words_and_places() {
        let text = "// A.

// About b.
const b = 3u; /* { */
@group(0) @binding(1)
var<storage, read> c: array<u32>;
struct D { e: u32 }
fn f(g: D) -> u32 {
    return g.e + b; // h
}
const_assert b == 3u;
";
        let found = declarations(text);
        let names: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.line)).collect();
        assert_eq!(names, [("b", 3), ("c", 5), ("D", 7), ("f", 8), ("", 11)]);
        assert!(found[0].text.starts_with("// About b.") && found[0].text.ends_with("3u;"));
        let words = found[3].decided(&HashMap::new()).words;
        assert!(words.contains("b") && !words.contains("e") && !words.contains("h"));
    }

    /// The non-local names of the declarations of a text.
    fn named(text: &str) -> String {
        let words = declarations(text).remove(0).decided(&HashMap::new()).words;
        words.into_iter().filter(|word| word.len() == 1).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn local_names_are_excluded() {
        assert_eq!(named("fn g(a: B, c: D) -> E { return a + c + f; }"), "B D E f g");
        assert_eq!(named("@compute @workgroup_size(W)\nfn g(@builtin(i) i: vec3<u32>) { x(i.y); }"), "W g x");
        assert_eq!(named("struct S { a: T, @align(N) b: array<U, M>, }"), "M N S T U");
        assert_eq!(named("fn g() { let a = b; let c: D = a; var e = c; var<function> h = e; h = a; }"), "D b g");
        // The scope of a name begins at the end of its statement.
        assert_eq!(named("fn g() { let a = a(1u); h(a); }"), "a g h");
        assert_eq!(named("fn g() { h(a); let a = 1u; }"), "a g h");
        // It ends at the end of its block.
        assert_eq!(named("fn g() { { let a = 1u; h(a); } a(); }"), "a g h");
        assert_eq!(named("fn g() { if b { let a = 1u; h(a); } else { a(); } }"), "a b g h");
        assert_eq!(named("fn g() { for (var i = n; i < m; i++) { h(i); } }"), "g h m n");
        assert_eq!(named("fn g() { for (var i = n; i < m; i++) { h(i); } i(); }"), "g h i m n");
        assert_eq!(named("fn g() { for (var i = 0; i < m; i++) { if x { let y = i; } h(i); } y(); }"), "g h m x y");
        assert_eq!(named("fn g() { switch x { case K: { let a = 1u; } default: { a(); } } }"), "K a g x");
        assert_eq!(named("fn g() { (*a).b = c.d; e[f] = 1u; }"), "a c e f g");
        assert_eq!(named("var<workgroup> a: array<B, C>;"), "B C");
        assert_eq!(named("const a: B = c + a;"), "B a c");
    }
}
