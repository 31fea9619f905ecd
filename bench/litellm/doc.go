// Package litellm holds a test that runs only against a litellm proxy
// (bench/litellm.sh starts one).
package litellm
