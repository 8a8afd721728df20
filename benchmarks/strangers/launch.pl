# Starts a command with a clean environment, as remote shells do: `perl launch.pl COMMAND...`. What the software GPU
# needs remains.
use strict;
use warnings;

%ENV = map { $_ => $ENV{$_} } grep { /^(SIMGPU_|LD_LIBRARY_PATH)/ } keys %ENV;
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
