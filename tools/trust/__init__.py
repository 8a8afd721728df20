"""Makes and checks what a release is trusted by: bills of materials, and signatures."""
