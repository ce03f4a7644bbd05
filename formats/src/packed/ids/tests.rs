use super::*;
use proptest::prelude::*;

pub fn encoded(ids: &[u64]) -> Vec<u32> {
    let (summary, mut words) = (IdsSummary::of(ids.iter().copied()), Vec::new());
    let take = |some: &[u32]| {
        words.extend_from_slice(some);
        Ok::<_, ()>(())
    };
    encode(&summary, ids.iter().copied(), take).unwrap();
    words
}

fn decoded(words: &[u32], count: usize) -> Result<Vec<u64>, PageDefect> {
    let (mut ids, mut passed) = (vec![0; count], Vec::new());
    let bytes = bytemuck::cast_slice::<u32, u8>(words);
    let each = each(bytes, count as u64, |some| {
        passed.extend_from_slice(some);
        true
    });
    let all = decode(bytes, &mut ids).map(|()| ids);
    assert_eq!(each.is_ok(), all.is_ok());
    assert!(all.as_ref().map_or(true, |all| *all == passed));
    all
}

/// Groups of the numbers from `first` on, ascending in each.
pub fn groups(first: u64, count: u64, of: u64) -> Vec<u64> {
    let class = |id: &u64| u64::from((id.wrapping_mul(crate::random::GOLDEN) >> 40).leading_zeros()) % of;
    let mut ids: Vec<u64> = (first..first + count).collect();
    ids.sort_by_key(class);
    ids
}

proptest! {
    #[test]
    fn ids_are_decoded_as_encoded(
        ids in prop::collection::hash_set(prop_oneof![0u64..2000, any::<u64>(), u64::MAX - 300..=u64::MAX], 0..700),
        sorted: bool,
    ) {
        let mut ids: Vec<u64> = ids.into_iter().collect();
        if sorted {
            ids.sort_unstable();
        }
        let words = encoded(&ids);
        prop_assert_eq!(&decoded(&words, ids.len()).unwrap(), &ids);
        prop_assert!(decoded(&words[..words.len() - 1], ids.len()).is_err());
        prop_assert!(decoded(&[&words[..], &[0]].concat(), ids.len()).is_err());
    }

    #[test]
    fn any_words_are_ids_or_an_error(
        mut words in prop::collection::vec(prop_oneof![0u32..9, any::<u32>()], 0..200),
        listed in 0u32..300,
        count in 0usize..300,
    ) {
        if words.len() >= 4 {
            words[..4].copy_from_slice(&[listed, 0, 0, 0]);
        }
        decoded(&words, count).ok();
    }
}

#[test]
fn groups_of_a_range_take_few_bits() {
    for (first, of) in [(0, 1), (7, 3), (1 << 40, 9)] {
        let ids = groups(first, 10_000, of);
        let words = encoded(&ids);
        assert_eq!(decoded(&words, ids.len()).unwrap(), ids, "{of} groups");
        assert!(32 * words.len() < 5 * ids.len(), "{of} groups: {} words", words.len());
    }
    assert_eq!(encoded(&groups(5, 1000, 1)).len(), HEADER_WORDS, "a range is not listed");
    let permuted: Vec<u64> = (0..10_240).map(|id| id * 7919 % 10_240).collect();
    assert!(encoded(&permuted).len() <= HEADER_WORDS + 80 * (3 + block_words(14)), "14 bits each");
}

#[test]
fn ids_out_of_their_range_or_twice_are_refused() {
    // Two of four are listed, as gaps of 4 bits: 1 and 3; the others are 0 and 2.
    let file = |first: u32, numbers: u32| {
        let shape = IdShape { width: 4, ..IdShape::default() };
        let mut words = vec![2, 0, first, 0, shape.encode(), numbers];
        words.resize(5 + shape.words(), 0);
        words
    };
    assert_eq!(decoded(&file(0, 0x11), 4).unwrap(), [1, 3, 0, 2]);
    assert!(decoded(&file(0, 0x21), 4).is_err(), "id 4");
    assert!(decoded(&file(2, 0x11), 4).is_err(), "id 1");
    assert!(decoded(&file(0, 0x211), 4).is_err(), "a number behind the last");
    let mut twice = file(0, 0);
    twice[4] |= 1 << 21;
    twice.insert(5, 1);
    twice.insert(6, 0);
    assert!(decoded(&twice, 4).is_err(), "id 1 twice");
}
