//! What `--help` says below the options.

pub(super) const EXAMPLES: &str = "Examples:
  transom                                        the demo server, in this process
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom inspect http://localhost:3001/mcp      a look without a browser
  transom new board                              a server with a view to start from
  transom dev -- cargo run -q                    a server that you are writing, started again when it changes
  transom check -- cargo run -q                  what keeps its views from being shown, and how to mend it
  transom isolation                              proof that a hostile view stays in
  transom completions bash                       completions for your shell

`transom run --help` says more about each option.";

pub(super) const AFTERWORD: &str = "Examples:
  transom                                        the demo server, in this process
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom run --config mcp.json                  all servers of a file
  transom run --print-config                     what would be used, and why
  transom inspect http://localhost:3001/mcp      a look without a browser
  transom check -- cargo run -q                  what keeps its views from being shown, and how to mend it

Files:
  transom.toml        settings, policy and servers; docs/transom.toml shows every key. One that is found in this
                      folder counts after you have agreed to it, in a terminal; --toml names one, --no-toml none
  the data folder     pins of documents, decisions, the key for stable names, tokens of servers, the audit,
                      the transom.toml files that you agreed to

Environment:
  TRANSOM_CONFIG      the transom.toml to read
  RUST_LOG            what is logged, as in info or transom_host=debug

Exit codes:
  0 done    1 findings (check), findings of severity danger (inspect), a log that was touched (audit verify)
  2 could not run    130 Ctrl-C twice";

pub(super) const RUN_EXAMPLES: &str = "Examples:
  transom run                                    the servers of transom.toml, or else the demo
  transom run http://localhost:3001/mcp          a server over HTTP
  transom run -- npx -y some-mcp-server --stdio  a server that is started
  transom run --config mcp.json --open           all servers of a file, and the page in the browser
  transom run --sandbox-domain 'https://*.example-views.com'
  transom run --print-config                     what would be used, and why";

pub(super) const DEV_EXAMPLES: &str = "Examples:
  transom dev -- cargo run -q                    started again when a file changes
  transom dev --open -- node server.js           and the page in the browser
  transom dev --watch src --watch Cargo.toml --ignore '*.snap' -- cargo run -q";

pub(super) const NEW_EXAMPLES: &str = "Examples:
  transom new board
  transom new board --template react
  transom new board --path ../transom            with transom-server from a checkout";

pub(super) const INSPECT_EXAMPLES: &str = "Examples:
  transom inspect http://localhost:3001/mcp
  transom inspect -- npx -y some-mcp-server --stdio
  transom inspect --config mcp.json --json | jq '.servers[].views[].csp'
  transom inspect                                the servers of transom.toml, or else the demo";

pub(super) const CHECK_EXAMPLES: &str = "Examples:
  transom check -- cargo run -q                  a server that is started
  transom check http://localhost:3001/mcp --call 'show={\"team\": \"db\"}'
  transom check --same http://localhost:3001/mcp -- cargo run -q
  transom check --level error --ignore server-12,document-09 --sarif -- cargo run -q > check.sarif
  transom check --rules                          the rules, and why";

pub(super) const ISOLATION_EXAMPLES: &str = "Examples:
  transom isolation
  transom isolation --naive                      the same without a host, to see the difference
  transom isolation --browser /usr/bin/chromium --json";

pub(super) const PAGES_EXAMPLES: &str = "Examples:
  transom pages                                  the samples, a client for them, and a host
  transom pages --allow https://client.example   and another page may connect";

pub(super) const EXPOSE_EXAMPLES: &str = "Examples:
  transom expose http://json.localhost:7430/?example     to whoever started it, over standard input and output
  transom expose https://server.example/ --window        a setup that a person must see
  transom expose https://server.example/ --http 7480     over HTTP, at http://127.0.0.1:7480/mcp";

pub(super) const DOCTOR_EXAMPLES: &str = "Examples:
  transom doctor -- ./my-server
  transom doctor http://localhost:3001/mcp --tool show-board --input '{\"board\":7}'
  transom doctor --screenshot seen.png --json -- npx -y some-mcp-server";

pub(super) const REPLAY_EXAMPLES: &str = "Examples:
  transom run -- transom replay session.jsonl        its views, without its server
  transom replay session.jsonl -- ./my-server        the same questions to the server as it is now
  transom replay session.jsonl --server board --loose";

pub(super) const AUDIT_EXAMPLES: &str = "Examples:
  transom audit list --last 20
  transom audit verify --head 5f0c…              the head that was printed at the last exit
  transom audit export --redact > audit.jsonl
  transom audit verify --export audit.jsonl
  transom audit prune --retain 90";

pub(super) const DECISIONS_EXAMPLES: &str = "Examples:
  transom decisions list
  transom decisions forget 5f0c91aa
  transom decisions forget --server board
  transom decisions forget --all";

pub(super) const COMPLETIONS_EXAMPLES: &str = "Examples:
  transom completions bash > ~/.local/share/bash-completion/completions/transom
  transom completions zsh > ~/.zfunc/_transom
  transom completions fish > ~/.config/fish/completions/transom.fish";
