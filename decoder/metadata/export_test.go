package metadata

// For the tests that build their files with package metatest, which imports
// this package.
var (
	CheckRoundTrip = checkRoundTrip
	CheckAccounts  = checkAccounts
)
