package hitl

import "strings"

// SchemaAuth names the data part of a question for credentials in the part's
// metadata, under the key "schema".
const SchemaAuth = "auth-required/v1"

// AuthRequired asks for credentials: the task is parked as auth-required (A2A
// v1.0 section 7.6) until a message brings them, or the server has got them by
// another way. It is [InputRequired] with [Auth]; an empty prompt becomes
// "Authentication is required.".
func AuthRequired(prompt string, opts ...Option) *Interrupt {
	if prompt == "" {
		prompt = "Authentication is required."
	}
	return InputRequired(prompt, append([]Option{Auth("")}, opts...)...)
}

// Auth makes a question one for credentials, of [Ask] too: the task is parked as
// auth-required. The data part tells the scheme ("oauth2", "apiKey"; empty:
// unsaid) and the scopes, as "scheme" and "scopes".
func Auth(scheme string, scopes ...string) Option {
	scheme = strings.ToValidUTF8(scheme, "\uFFFD")
	return Option{func(i *Interrupt) {
		i.auth = true
		i.tell("scheme", scheme)
		if len(scopes) > 0 {
			list := make([]any, 0, len(scopes))
			for _, s := range scopes {
				list = append(list, strings.ToValidUTF8(s, "\uFFFD"))
			}
			i.told("scopes", list)
		}
	}}
}

// AuthURL tells where to authenticate, as "url". It implies [Auth].
func AuthURL(url string) Option {
	url = strings.ToValidUTF8(url, "\uFFFD")
	return Option{func(i *Interrupt) { i.auth = true; i.tell("url", url) }}
}

// AuthProvider tells with whom to authenticate, as "provider". It implies
// [Auth].
func AuthProvider(name string) Option {
	name = strings.ToValidUTF8(name, "\uFFFD")
	return Option{func(i *Interrupt) { i.auth = true; i.tell("provider", name) }}
}

// Auth reports whether the question is one for credentials.
func (i *Interrupt) Auth() bool { return i != nil && i.auth }

// Schema is the schema of the question's data part: [SchemaAuth] or [Schema].
func (i *Interrupt) Schema() string {
	if i.Auth() {
		return SchemaAuth
	}
	return Schema
}

func (i *Interrupt) tell(member, text string) {
	if text != "" {
		i.told(member, text)
	}
}

func (i *Interrupt) told(member string, v any) {
	if i.members == nil {
		i.members = map[string]any{}
	}
	i.members[member] = v
}
