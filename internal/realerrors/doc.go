// Package realerrors holds no code. Its test makes errors with the real libraries, against servers on
// the loopback interface where they need one, and checks what errcode says about them. It is a
// module of its own so that errcode depends on none of them; README.md names the versions.
package realerrors
