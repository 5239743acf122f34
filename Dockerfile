# The image of both programs: static binaries, the system's root certificates, and nothing else. It runs as an ordinary user
# and writes no files, so the root file system may be read-only.
#
#   docker build -t eerf .                                  # or scripts/image.sh NAME, which stamps and pushes
#   docker run --read-only --rm eerf config print
#   docker run --read-only --rm --entrypoint trainer eerf fit --help
#
# The context has no .git (.dockerignore), so the stamp of --version comes as VERSION, COMMIT and DATE.
ARG GO_VERSION=1.26.8

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-trixie AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION COMMIT DATE
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH VERSION=$VERSION COMMIT=$COMMIT DATE=$DATE scripts/build.sh /out

FROM scratch
ARG VERSION COMMIT DATE
LABEL org.opencontainers.image.title="eerf" \
      org.opencontainers.image.description="Random features that fit a labelled stream of events" \
      org.opencontainers.image.source="https://github.com/eerf-stream/eerf" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.created="$DATE"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/LICENSE /LICENSE
COPY --from=build /out/ /usr/local/bin/
# A number, not a name: Kubernetes can tell that it is not root, and there is no /etc/passwd to look up a name.
USER 65532:65532
EXPOSE 9464
ENTRYPOINT ["/usr/local/bin/featurizer"]
CMD ["--help"]
