# A static binary in an image with nothing else but certificates.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev gcc make
WORKDIR /src
COPY . .
RUN cargo build --release --locked && strip target/release/concilio

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/target/release/concilio /concilio
# The journal and the games live here: mount a volume that user 10001 may write.
WORKDIR /data
USER 10001:10001
ENTRYPOINT ["/concilio"]
CMD ["run"]
