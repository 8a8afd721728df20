"""Closes descriptor numbers or takes them over while it trains: `closes.py gunicorn|stderr|workers`.

gunicorn  does what gunicorn does with sockets, and is not gunicorn: it has a listening socket and its connections, one
          of them on the library's number, as servers do that inherit sockets, and takes what clients send while it
          trains
stderr    puts a connection on the number of standard error, and loses the library's number, of which the library tells
workers   forks data loaders, which close all numbers and answer over pipes, while the library's number is a pipe

Bytes that came or went wrong make the verdict wrong.
"""

import os
import socket
import sys

from rank import EAGER, RANK, need, train_on

_WORDS = b"what belongs to the program"
_MANY = 4096


def gunicorn(number):
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    client = socket.create_connection(address)
    connection, _ = listener.accept()
    os.dup2(connection.fileno(), number, inheritable=False)
    client.sendall(_WORDS)
    others = [socket.create_connection(address) for _ in range(32)]  # numbers that were free are taken now
    for other in others:
        other.sendall(_WORDS)
    train_on()
    taken = socket.socket(fileno=number)
    need(taken.recv(len(_WORDS), socket.MSG_WAITALL) == _WORDS, "what a client sent is gone")
    taken.sendall(_WORDS)
    need(client.recv(_MANY) == _WORDS, "a client got what the server did not send")
    for _ in others:
        accepted, _ = listener.accept()
        need(accepted.recv(len(_WORDS), socket.MSG_WAITALL) == _WORDS, "what another client sent is gone")


def stderr(number):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    os.dup2(theirs.fileno(), 2)
    os.dup2(theirs.fileno(), number, inheritable=False)
    os.write(2, _WORDS)
    train_on()
    ours.setblocking(False)
    need(ours.recv(_MANY) == _WORDS, "the library wrote into a connection of the program")


def workers(number):
    data, fill = os.pipe()
    os.dup2(data, number, inheritable=False)
    os.write(fill, _WORDS)
    answers = []
    for _ in range(4):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(writer, 3)
            os.closerange(4, _MANY)
            os.write(3, _WORDS)
            os._exit(0)
        os.close(writer)
        answers.append((child, reader))
    train_on()
    for child, reader in answers:
        need(os.read(reader, _MANY) == _WORDS, "what a worker sent is gone")
        need(os.waitpid(child, 0)[1] == 0, "a worker failed")
    os.set_blocking(number, False)
    need(os.read(number, _MANY) == _WORDS, "what lay in a pipe of the program is gone")


def main(way):
    RANK.StrangerBegin()
    RANK.StrangerTrain(EAGER)
    {"gunicorn": gunicorn, "stderr": stderr, "workers": workers}[way](RANK.StrangerNumber())
    RANK.StrangerEnd()


if __name__ == "__main__":
    main(*sys.argv[1:])
