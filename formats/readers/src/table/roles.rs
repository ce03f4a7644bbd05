//! What the names of columns say: which column is the source of an edge, which its dest, which its weight.
//!
//! ```text
//!  Person1Id | Person2Id   ─ words ─▶  person 1 id | person 2 id    equal but for one place, which has 1 and 2: a pair
//!  :START_ID(Person)       ─ words ─▶  start id                     neo4j-admin's headers
//!  tonodeid                ─ words ─▶  to nodeid                    a known beginning before a known end
//! ```
//!
//! Names count in pairs only: a lone `to` or `u` says nothing.

/// Words for the source of an edge; each goes with every word of [`DEST`].
const SOURCE: &[&str] = &["source", "src", "from", "u"];
/// Words for the dest of an edge.
const DEST: &[&str] = &["target", "tgt", "dst", "dest", "destination", "to", "v"];
/// Words that are source and dest together only. `head` and `tail` are missing: the head of an arc is its dest, and the
/// head of a triple its subject.
const PAIRS: &[(&str, &str)] = &[
    ("start", "end"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("subject", "object"),
    ("subj", "obj"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("citing", "cited"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("caller", "callee"),
    ("parent", "child"),
    ("left", "right"),
    ("first", "second"),
    ("ego", "alter"),
    ("row", "col"),
    ("row", "column"),
    ("a", "b"),
    ("i", "j"),
    ("1", "2"),
    ("0", "1"),
];
/// Words that stand with these in names of columns of ids.
const IDS: &[&str] = &[
    "id", "ids", "node", "nodeid", "vertex", "vertexid", "user", "userid", "name", "key", "label", "idx", "index",
    "person",
];
/// Words of columns of times and places: such pairs are no ends of edges.
const MEASURES: &[&str] = &[
    "date",
    "time",
    "timestamp",
    "datetime",
    "day",
    "year",
    "month",
    "at",
    "lat",
    "latitude",
    "lng",
    "lon",
    "long",
    "longitude",
    "offset",
    "pos",
];
/// Other words by which a first row is recognised as names of columns.
const HEADINGS: &[&str] = &[
    "account",
    "actor",
    "address",
    "amount",
    "artist",
    "author",
    "city",
    "code",
    "community",
    "company",
    "count",
    "country",
    "created",
    "creation",
    "date",
    "domain",
    "edge",
    "entity",
    "friend",
    "friends",
    "gene",
    "group",
    "head",
    "tail",
    "host",
    "id",
    "ids",
    "index",
    "item",
    "key",
    "kind",
    "label",
    "link",
    "member",
    "movie",
    "name",
    "names",
    "node",
    "nodes",
    "number",
    "org",
    "page",
    "paper",
    "people",
    "person",
    "predicate",
    "product",
    "protein",
    "rating",
    "relation",
    "relationship",
    "score",
    "tag",
    "term",
    "time",
    "timestamp",
    "type",
    "uid",
    "url",
    "user",
    "users",
    "value",
    "vertex",
    "year",
];

/// The words of a column's name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for letter in field(name).chars() {
        let class = (letter.is_alphabetic(), letter.is_numeric(), letter.is_uppercase());
        if class.0 || class.1 {
            let goes_on = before.is_some_and(|(alphabetic, numeric, upper): (bool, bool, bool)| {
                (alphabetic, numeric) == (class.0, class.1) && (upper || !class.2)
            });
            if !goes_on {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = Some(class);
    }
    words
}

/// The part of a name that counts: in neo4j's headers it stands before the type, unless the type is a role.
fn field(name: &str) -> &str {
    let name = name.trim();
    let end = name.find('(').filter(|&at| at > 0 && name.contains(':')).unwrap_or(name.len());
    match name[..end].rsplit_once(':') {
        Some((before, role)) if before.is_empty() || role.to_ascii_uppercase().ends_with("_ID") => role,
        Some((before, _)) => before,
        None => &name[..end],
    }
}

/// Whether one word stands for the source and the other for the dest of an edge.
fn is_pair(source: &str, dest: &str) -> bool {
    SOURCE.contains(&source) && DEST.contains(&dest) || PAIRS.contains(&(source, dest))
}

/// Whether two names are such a pair, each joined to the same other word: `fromnode` and `tonode`.
fn is_joined_pair(source: &str, dest: &str) -> bool {
    IDS.iter().any(|id| {
        let ends = source.strip_suffix(id).zip(dest.strip_suffix(id));
        let begins = source.strip_prefix(id).zip(dest.strip_prefix(id));
        ends.into_iter().chain(begins).any(|(source, dest)| source.len() > 1 && is_pair(source, dest))
    })
}

/// How well a pair of columns is known: the smaller, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Nothing but the words of a pair: `source` and `target`.
    Exact,
    /// With a word for ids: `from_id` and `to_id`.
    Ids,
    /// With any other words: `start_station` and `end_station`.
    Other,
}

/// How well two columns are known as source and dest, if they are.
fn rank(source: &[String], dest: &[String]) -> Option<Rank> {
    let differing = source.iter().zip(dest).filter(|(one, other)| one != other);
    let [(one, other)] = differing.collect::<Vec<_>>()[..] else { return None };
    let is_known = source.len() == dest.len() && (is_pair(one, other) || is_joined_pair(one, other));
    let is_measure = source.iter().any(|word| MEASURES.contains(&word.as_str()));
    let is_id = || source.iter().any(|word| word == "id" || word == "ids" || is_joined_pair(one, other));
    match source.len() {
        _ if !is_known || is_measure => None,
        // Letters and numbers alone are no roles, but for u and v.
        1 if one.len() == 1 && one != "u" => None,
        1 if is_pair(one, other) => Some(Rank::Exact),
        _ if is_id() => Some(Rank::Ids),
        _ => Some(Rank::Other),
    }
}

/// The pairs of columns that are known as source and dest, only the pairs of the best rank.
pub(super) fn pairs(names: &[String]) -> Vec<(usize, usize)> {
    // Files have few columns; of many, the first are looked at.
    const COLUMNS_MAX: usize = 256;
    let words: Vec<Vec<String>> = names.iter().take(COLUMNS_MAX).map(|name| words(name)).collect();
    let places = || 0..words.len();
    let all = places().flat_map(|source| places().map(move |dest| (source, dest)));
    let ranked: Vec<_> =
        all.filter_map(|(source, dest)| Some((rank(&words[source], &words[dest])?, (source, dest)))).collect();
    let best = ranked.iter().map(|&(rank, _)| rank).min();
    ranked.into_iter().filter(|&(rank, _)| Some(rank) == best).map(|(_, pair)| pair).collect()
}

/// Whether a name is a word for the dest of an edge, and nothing else.
pub(super) fn is_dest(name: &str) -> bool {
    matches!(&words(name)[..], [word] if word.len() > 1 && DEST.contains(&word.as_str()))
}

/// The column of weights: the only one, or the first with just that name.
pub(super) fn weight(names: &[String]) -> Option<usize> {
    let exact = names.iter().position(|name| matches!(&words(name)[..], [word] if word == "weight" || word == "w"));
    let is_like = |name: &String| words(name).iter().any(|word| word == "weight" || word == "weights");
    let mut like = (0..names.len()).filter(|&place| is_like(&names[place]));
    exact.or_else(|| like.next().filter(|_| like.next().is_none()))
}

/// Whether a column without a proper name numbers the rows, as pandas writes it.
pub(super) fn is_index(name: &str, place: usize) -> bool {
    let name = name.trim().to_lowercase();
    place == 0 && (name.is_empty() || name == "unnamed: 0") || name.starts_with("__index_level_")
}

/// Whether a name consists of words that stand above columns.
pub(super) fn is_heading(name: &str) -> bool {
    let words = words(name);
    let is_known = |word: &String| {
        let word = word.as_str();
        HEADINGS.contains(&word) || IDS.contains(&word) || SOURCE.contains(&word) || DEST.contains(&word)
    };
    let first = words.first().is_some_and(|word| word.len() > 1 && is_known(word));
    first && words.iter().all(|word| is_known(word) || word.bytes().all(|byte| byte.is_ascii_digit()))
        || words.last().is_some_and(|word| word == "id" && words.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of(names: &str) -> Vec<(usize, usize)> {
        pairs(&names.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_words() {
        for (name, expected) in [
            ("Person1Id", "person 1 id"),
            ("FromNodeId", "from node id"),
            ("user_id", "user id"),
            (":START_ID(Person)", "start id"),
            ("personId:START_ID(Person-ID)", "start id"),
            ("since:int", "since"),
            ("weight (kg)", "weight kg"),
            ("ID", "id"),
            ("", ""),
            ("ÄÖ x", "äö x"),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name:?}");
        }
    }

    #[test]
    fn pairs_of_names() {
        for (names, expected) in [
            ("source,target", (0, 1)),
            ("time,TO,from", (2, 1)),
            ("creationDate,Person1Id,Person2Id", (1, 2)),
            (":TYPE,:START_ID,:END_ID", (1, 2)),
            (":END_ID(Movie),:START_ID(Actor),role", (1, 0)),
            ("date,from_user,to_user", (1, 2)),
            ("id,from_id,to_id", (1, 2)),
            ("id,fromnodeid,tonodeid", (1, 2)),
            ("x,sourceId,dstId", (1, 2)),
            ("start_station_name,end_station_name,start_station_id,end_station_id,start_lat,end_lat", (2, 3)),
            ("source,target,source_name,target_name", (0, 1)),
            ("subject,predicate,object", (0, 2)),
            ("node_1,node_2,w", (0, 1)),
            ("idA,idB", (0, 1)),
            ("u,v,key", (0, 1)),
        ] {
            assert_eq!(pairs_of(names), [expected], "{names}");
        }
        for names in
            ["user,item", "from,x", "start_date,end_date", "a,c", "head,relation,tail", "lat,lng", "a,b", "1,2"]
        {
            assert_eq!(pairs_of(names), [], "{names}");
        }
        assert_eq!(pairs_of("from_user,to_user,from_host,to_host"), [(0, 1), (2, 3)]);
    }

    #[test]
    fn weights_indices_and_headings() {
        let weight_of = |names: &str| weight(&names.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            [weight_of("a,W"), weight_of("edge_weight,b"), weight_of("weight_a,weight_b")],
            [Some(1), Some(0), None]
        );
        assert!(is_index("", 0) && is_index("Unnamed: 0", 0) && !is_index("", 1) && is_index("__index_level_0__", 3));
        for name in ["user_id", "friend_id", "name", "Node 1", "customer_id", "FromNodeId"] {
            assert!(is_heading(name), "{name}");
        }
        for name in ["alice", "Smith", "u1", "", "42"] {
            assert!(!is_heading(name), "{name}");
        }
    }
}
