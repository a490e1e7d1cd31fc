// Package flow will hold typed graphs of nodes that keep finished work and
// name the node that failed. It is empty so far.
package flow
