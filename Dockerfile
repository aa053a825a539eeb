# The command `transom` alone in a small image, built from this checkout.
#
#   docker build --tag transom .
#   docker run --rm --network host --volume transom-data:/data transom run http://localhost:3001/mcp
#
# `transom` listens on loopback and nowhere else (docs/decisions.md#D14), so the container shares the machine's network:
# the address that it prints opens in a browser of this machine. Servers that it starts itself must be in the image.

FROM rust:1.95-trixie AS build
RUN apt-get update && apt-get install --yes --no-install-recommends nodejs npm
WORKDIR /transom
COPY . .
RUN cargo install --locked --path crates/transom-cli --root /built

FROM debian:trixie-slim
# The certificates that servers over HTTPS are checked against.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /built/bin/transom /usr/local/bin/transom
RUN install --directory --owner=nobody --mode=700 /data
USER nobody
ENV XDG_DATA_HOME=/data
VOLUME /data
ENTRYPOINT ["transom"]
CMD ["run"]
