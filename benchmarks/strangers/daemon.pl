# Becomes a daemon as modules for that do: two forks, a session of its own, a clean table of descriptors. Then it
# runs the command in its place: `perl daemon.pl COMMAND...`.
use strict;
use warnings;
use POSIX ();

for my $time (1, 2) {
    my $child = fork();
    die "fork: $!\n" unless defined $child;
    POSIX::_exit(0) if $child;
    POSIX::setsid() if $time == 1;
}
POSIX::close($_) for 3 .. 1023;
open(STDIN, '<', '/dev/null') or die "/dev/null: $!\n";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
