//! What the READMEs show is what is compiled.

/// The example is the listing of both READMEs, the repository's and the crate's, and what it adds to a server without views is at most eight lines.
#[test]
fn the_readmes_show_the_clock_and_add_at_most_eight_lines() {
    let readmes = [include_str!("../../../../README.md"), include_str!("../../README.md")];
    let example = include_str!("../../examples/clock.rs");
    let (_, code) = example.split_once("\n\n").expect("its first line is for the compiler");
    let document = include_str!("../../views/clock.html");
    for readme in readmes {
        assert!(readme.contains(code.trim()), "the README's listing is not examples/clock.rs");
        assert!(readme.contains(document.trim()), "the README's document is not views/clock.html");
    }
    let added = example.lines().filter(|line| line.ends_with("// +")).count();
    assert!((1..=8).contains(&added), "{added} lines");
}
