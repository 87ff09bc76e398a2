//! The attribute [`test`](macro@test) of `concilio-testkit`, which documents it.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Registers a function, `async` or not, as a test of a target without libtest.
///
/// `#[testkit::test(needs(A, B))]` names what the test needs: statics of `testkit::needs`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match register(arguments, &item) {
        Ok(registration) => item.into_iter().chain(registration).collect(),
        Err(reason) => format!("compile_error!({reason:?});").parse().expect("an invocation"),
    }
}

fn register(arguments: TokenStream, item: &TokenStream) -> Result<TokenStream, &'static str> {
    let needs: String = needs(arguments)?.iter().map(|need| format!("&::testkit::needs::{need},")).collect();
    let words: Vec<String> = item.clone().into_iter().map(|token| token.to_string()).collect();
    let function = words.iter().position(|word| word == "fn").ok_or("#[testkit::test] is for functions")?;
    let name = words.get(function + 1).ok_or("the function has no name")?;
    let body = match words[..function].iter().any(|word| word == "async") {
        true => format!("::testkit::block_on({name}())"),
        false => format!("{name}()"),
    };
    let registration = format!(
        "::testkit::inventory::submit! {{ ::testkit::Test {{
             name: concat!(module_path!(), \"::{name}\"), needs: &[{needs}], body: || {body},
         }} }}"
    );
    registration.parse().map_err(|_| "not the name of a function")
}

fn needs(arguments: TokenStream) -> Result<Vec<String>, &'static str> {
    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
    match arguments.as_slice() {
        [] => Ok(Vec::new()),
        [TokenTree::Ident(word), TokenTree::Group(group)]
            if word.to_string() == "needs" && group.delimiter() == Delimiter::Parenthesis =>
        {
            let names = group.stream().into_iter().filter(|token| matches!(token, TokenTree::Ident(_)));
            Ok(names.map(|token| token.to_string()).collect())
        }
        _ => Err("write #[testkit::test] or #[testkit::test(needs(NATS_SERVER))]"),
    }
}
