//! Filter that makes the change that a request header asks for, legal or not, through the SDK calls.
//!
//! `x-edit: PHASE OP NUMBER TIMES NAME VALUE`: phase and operation are the numbers of the filter ABI; name and value
//! are
//! hexadecimal after an `x`, or a number of bytes to generate.

use eddy_sdk::prelude::*;

pub(crate) struct Illegal;

impl Filter for Illegal {
    type Config = serde_json::Value;
    type State = ();

    const INTEREST: Interest = Interest::of(&[Phase::RequestHead, Phase::ResponseHead]);

    fn new(_: serde_json::Value, _: &Context) -> Result<Self, String> {
        Ok(Self)
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        change(x, "0")
    }

    fn response_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        change(x, "3")
    }
}

fn change(x: &mut Exchange<'_, ()>, here: &str) -> Result<Verdict, Fault> {
    let text = x.request().get_str("x-edit").unwrap_or_default().to_owned();
    let words: Vec<&str> = text.split(' ').collect();
    let [phase, op, number, times, name, value] = words[..] else { return Ok(Verdict::Continue) };
    if phase != here {
        return Ok(Verdict::Continue);
    }
    let (name, value) = (decode(name)?, decode(value)?);
    let text = String::from_utf8_lossy(&value);
    let (number, times): (u32, u32) = (number.parse()?, times.parse()?);
    for _ in 0..times {
        match op {
            "1" => x.set(name.as_slice(), &value)?,
            "2" => x.add(name.as_slice(), &value)?,
            "3" => x.remove(name.as_slice())?,
            "4" => x.set_method(&text)?,
            "5" => x.set_target(&value)?,
            "6" => x.set_authority(&value)?,
            "7" => x.set_status(u16::try_from(number)?)?,
            "8" => x.set_body(&value)?,
            "9" => x.append_body(&value)?,
            "10" => x.prepend_body(&value)?,
            "11" => x.drain_body(number)?,
            "12" => return Ok(Reply::new(u16::try_from(number)?).body(value).into()),
            other => return Err(Fault::new(format!("the kit has no call for {other}"))),
        }
    }
    Ok(Verdict::Continue)
}

fn decode(word: &str) -> Result<Vec<u8>, Fault> {
    let Some(digits) = word.strip_prefix('x') else { return Ok(vec![b'v'; word.parse()?]) };
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
