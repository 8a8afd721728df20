# This image has crossover-deviceplugin, the library that it puts into containers, and the command line for users who
# look at a node. It runs as root: charts/crossover/README.md says why. README.md beside this file says what the context
# is. BASE is Debian 12, or a system that has its packages. PACKAGES are those to install; none if BASE has them
# already.
ARG BASE=debian:12-slim
FROM ${BASE}
ARG PACKAGES="grep libabsl20220623 libcivetweb1 libcurl4 libgrpc++1.51 libprometheus-cpp-core1.0 libprotobuf32 libstdc++6 libyaml-cpp0.7 mount"
RUN if [ -n "$PACKAGES" ]; then \
      apt-get -qq update && apt-get -qq install -y --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*; \
    fi
COPY . /
ENTRYPOINT ["/usr/bin/crossover-deviceplugin"]
