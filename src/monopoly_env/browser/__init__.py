"""The library for browsers: the same compiled functions for WebAssembly, and a module around them.

`python -m monopoly_env.compiled --target wasm32` writes the files that a page loads: the functions
(`monopoly.wasm`), what a program must know to call them (`monopoly.json`), the module
(`monopoly.js`) and the numbers of large networks (`weights/`).
"""
