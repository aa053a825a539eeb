//! A conversation as a file for others: Markdown of the branch that is shown, or JSON of everything.

use serde_json::json;

use super::tree::{CallState, Role, Tree};

pub(super) fn json(id: &str, title: &str, tree: &Tree) -> String {
    let whole = json!({ "format": "transom-conversation", "version": 1, "id": id, "title": title, "tree": tree });
    format!("{whole:#}\n")
}

/// What tools and views said stands in blocks of code, whose fences are longer than any in them.
pub(super) fn markdown(title: &str, tree: &Tree) -> String {
    let mut text = format!("# {}\n", title.replace(['\n', '\r'], " "));
    for node in tree.path(tree.head) {
        text.push_str(match (node.role, &node.from) {
            (Role::User, None) => "\n## Person\n\n",
            (Role::User, Some(_)) => "\n## A view, for the person\n\n",
            (Role::Assistant, _) => "\n## Model\n\n",
        });
        for context in &node.context {
            text.push_str(&format!("Context of {}:\n\n{}\n", context.from, fenced(&context.text)));
        }
        if !node.text.is_empty() {
            text.push_str(&format!("{}\n", node.text));
        }
        for call in &node.calls {
            let state = match call.state {
                CallState::Done => "",
                CallState::Failed => " (failed)",
                CallState::Refused => " (refused)",
                _ => " (stopped)",
            };
            text.push_str(&format!(
                "\nCall of `{}`{state}:\n\n{}",
                call.name,
                fenced(&call.arguments)
            ));
            text.push_str(&format!("\n{}", fenced(&call.answer)));
        }
        if let Some(note) = &node.note {
            text.push_str(&format!("\n*{note}*\n"));
        }
    }
    text
}

fn fenced(text: &str) -> String {
    let (mut longest, mut run) = (2, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_ends_its_block() {
        assert_eq!(fenced("a"), "```\na\n```\n");
        assert_eq!(fenced("```\n# x\n````"), "`````\n```\n# x\n````\n`````\n");
    }

    #[test]
    fn the_branch_that_is_shown_is_what_is_written() {
        let mut tree = Tree::default();
        let first = tree.add(None, Role::User, "one".to_owned());
        tree.add(Some(first), Role::Assistant, "two".to_owned());
        tree.add(Some(first), Role::Assistant, "three".to_owned());
        let text = markdown("a\nb", &tree);
        assert_eq!(text, "# a b\n\n## Person\n\none\n\n## Model\n\nthree\n");
        assert!(json("i", "t", &tree).contains("\"two\""));
    }
}
