//! Halves of JSON, healed.

use super::*;

/// A document of every kind of byte, a good kilobyte per repetition.
fn document(repetitions: usize) -> String {
    let numbers = "-1.5e+10,0,7,true,null,".repeat(8);
    let text = format!("{}\\n\\ud83d\\ude00\\ud83d \u{20ac}", "plain ".repeat(120));
    let item = format!("{{\"text\":\"{text}\",\"numbers\":[{numbers}1]}}");
    format!("{{\"items\":[{}]}}", vec![item; repetitions].join(","))
}

fn examined(document: &str, fragment: usize) -> usize {
    let mut healer = Healer::new();
    let mut rest = document;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(rest.ceil_char_boundary(fragment));
        healer.push(head).unwrap();
        rest = tail;
    }
    assert!(healer.is_complete());
    healer.examined
}

#[test]
fn no_byte_is_looked_at_more_than_twice_however_the_stream_is_split() {
    for repetitions in [1, 10, 100] {
        let document = document(repetitions);
        for fragment in [1, 2, 7, 64, 4096, document.len()] {
            let examined = examined(&document, fragment);
            assert!(document.len() <= examined, "{examined} of {}", document.len());
            assert!(examined <= 2 * document.len(), "{examined} of {}", document.len());
        }
    }
}

#[test]
fn the_work_per_byte_does_not_grow_with_the_stream() {
    let work = |n| examined(&document(n), 16) as f64 / document(n).len() as f64;
    assert!((work(100) / work(10) - 1.0).abs() < 0.01);
}
