package realerrors_test

import (
	"io"
	"log"
)

// nothing keeps the handshakes that are meant to fail out of the output.
var nothing = log.New(io.Discard, "", 0)
