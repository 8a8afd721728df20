"""Jobs whose reductions libcrossover-shrink.so narrows, and the faults of their votes."""
