// Package factory makes providers from what the settings and the credentials
// say (providers.md 1, 3, 6, 16.3). It knows neither the settings' form nor the
// files: all it needs is in Config, lookups are functions.
//
// A provider is made per run and purpose. What a purpose forbids (a cache key,
// tools, Fast) is kept from the request here, so that no caller can forget it.
package factory
