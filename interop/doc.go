// Package interop drives the showcase agent with A2A clients that others
// wrote, each in its own program under clients, and judges what they received
// against one table. docs/interop.md has the outcome.
//
// install.sh installs the clients that are not Go. Where one is missing its
// tests are skipped, unless A2AEXEC_INTEROP is "required", as in CI.
package interop
