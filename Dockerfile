# A static binary in an image with nothing else but certificates, time zones, and a folder of its own.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev gcc make tzdata
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p concilio && strip target/release/concilio
# What the image holds, as it will lie there. A volume that is mounted on /data for the first time takes over its owner.
RUN mkdir -p /image/data /image/tmp /image/etc/ssl/certs /image/usr/share \
 && cp target/release/concilio /image/ \
 && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
 && cp -r /usr/share/zoneinfo /image/usr/share/ \
 && chown 10001:10001 /image/data && chmod 700 /image/data && chmod 1777 /image/tmp

FROM scratch
COPY --from=build /image/ /
# The journal and the games live here.
WORKDIR /data
VOLUME /data
# Where the daemon listens for `concilio ctl`, whatever stands in the settings: a slip in them makes no daemon look dead.
ENV CONCILIO__WEB__SOCKET=/data/concilio.sock
USER 10001:10001
ENTRYPOINT ["/concilio"]
CMD ["run"]
HEALTHCHECK --interval=30s --start-period=30s CMD ["/concilio", "ctl", "--socket", "/data/concilio.sock", "status"]
