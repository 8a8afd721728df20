# This image has crossover-extender. README.md beside this file says what the context is. BASE is Debian 12, or a system
# that has its packages. PACKAGES are those to install; none if BASE has them already.
ARG BASE=debian:12-slim
FROM ${BASE}
ARG PACKAGES="libcpprest2.10 libcurl4 libprometheus-cpp-core1.0 libsimdjson14 libssl3 libstdc++6 libyaml-cpp0.7"
RUN if [ -n "$PACKAGES" ]; then \
      apt-get -qq update && apt-get -qq install -y --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*; \
    fi
COPY . /
USER 65532:65532
ENTRYPOINT ["/usr/bin/crossover-extender"]
