# With this port, Emscripten finds weft.h, and JavaScript finds the memory:
#
#   emcc -pthread --use-port=node_modules/@weft/sync/wasm/weft.py app.c
import os

DESCRIPTION = 'Locks, queues and counters shared by JavaScript and C threads'
LICENSE = 'MIT license'


def get(ports, settings, shared):
  return []  # header only: there is nothing to build


def clear(ports, settings, shared):
  pass


def show():
  return 'weft (--use-port=weft.py; MIT license)'


def process_args(ports):
  return ['-isystem', os.path.dirname(os.path.abspath(__file__))]


def linker_setup(ports, settings):
  if 'wasmMemory' not in settings.EXPORTED_RUNTIME_METHODS:
    settings.EXPORTED_RUNTIME_METHODS += ['wasmMemory']
