// Package modeltest draws problems for tests of the engine.
package modeltest
