//! What the compiler says to an author, and where.

#[test]
fn a_wrong_literal_is_an_error_at_its_place() {
    // Errors of the attributes come before anything they would expand to is looked at, so these files need
    // neither rmcp nor transom-server, and compile in a moment.
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
